//go:build unix

// Command with runs another command beside a private broker and a private store
// and ends them when it has ended, however it does:
//
//	with [-keep] go test ./...
//
// The command finds them in TRACTION_TEST_AMQP_URL and TRACTION_TEST_REDIS_URL,
// with TRACTION_TEST_SERVICES=1 set. with exits as the command did. SIGINT and
// SIGTERM are passed on to the command and its children; it has no standard input. -keep leaves the servers running after
// it until with gets a signal itself.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/traction-go/traction/internal/testsvc"
)

func main() { os.Exit(run()) }

func run() int {
	keep := flag.Bool("keep", false, "keep the servers until a signal")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: with [-keep] COMMAND [ARGS...]")
		return 2
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	amqpURL, redisURL, stop, err := testsvc.StartShared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()

	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// A group of its own, so that a signal reaches the test binaries too: the go
	// command ends without them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), testsvc.EnvServices+"=1", testsvc.EnvAMQPURL+"="+amqpURL, testsvc.EnvRedisURL+"="+redisURL)
	code := supervise(cmd, signals)
	if *keep {
		fmt.Fprintf(os.Stderr, "kept until Ctrl-C:\n  export %s=1 %s=%s %s=%s\n", testsvc.EnvServices, testsvc.EnvAMQPURL, amqpURL, testsvc.EnvRedisURL, redisURL)
		<-signals
	}
	return code
}

// supervise runs cmd, passes signals on to it, and returns its exit code: 128
// and the signal's number when one ended it, as shells do.
func supervise(cmd *exec.Cmd, signals <-chan os.Signal) int {
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "running %s: %v\n", cmd.Path, err)
		return 127
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if sig, ok := s.(syscall.Signal); ok {
				_ = syscall.Kill(-cmd.Process.Pid, sig) // fails only when it has ended just now
			}
		case err := <-done:
			var exit *exec.ExitError
			switch {
			case err == nil:
				return 0
			case !errors.As(err, &exit):
				fmt.Fprintf(os.Stderr, "running %s: %v\n", cmd.Path, err)
				return 1
			case exit.ExitCode() >= 0:
				return exit.ExitCode()
			}
			if status, ok := exit.Sys().(syscall.WaitStatus); ok {
				return 128 + int(status.Signal())
			}
			return 1
		}
	}
}
