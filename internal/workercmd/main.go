package workercmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/traction-go/traction/internal/execpilot"
	"github.com/traction-go/traction/internal/store"
)

// Main runs traction-worker with the process's arguments and gives its exit code.
func Main() int {
	store.Quiet()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, stop := untilSignal(context.Background(), signals, func(code int) {
		execpilot.KillAll() // nothing that a program started outlives the worker
		os.Exit(code)
	})
	defer stop()
	return Run(ctx, System(), os.Args[1:])
}

// System is the process's own world.
func System() *World {
	return &World{Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv, Open: open, Wait: wait}
}
