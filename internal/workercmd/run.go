package workercmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/command"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/config"
	"github.com/traction-go/traction/internal/health"
	"github.com/traction-go/traction/pkg/governor"
)

const (
	openTimeout  = 15 * time.Second // of one try to reach the broker
	openLeast    = time.Second      // between tries, growing
	openMost     = 30 * time.Second
	closeTimeout = 5 * time.Second
)

type runOptions struct {
	*World
	file       string
	maxFlights int
	logFormat  string
	logLevel   string
}

func newRunCmd(w *World, runF func(context.Context, *runOptions) error) *cobra.Command {
	opts := &runOptions{World: w}
	cmd := &cobra.Command{
		Use:   "run -c FILE",
		Short: "Fly until told to stop",
		Long: "run flies the flights of the airports in a configuration until SIGTERM or SIGINT, then\n" +
			"drains: nothing new is cleared, calls in the air finish (up to grace), the rest goes back\n" +
			"to the broker. A second signal ends the process at once; nothing is lost by it.\n\n" +
			"A broker or store that is away is waited for. Logs go to stderr.",
		Example: "  traction-worker run -c traction.yaml\n" +
			"  traction-worker run -c traction.yaml --max-flights 150   # the first of a rollout",
		Args: command.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := needFile(opts.file); err != nil {
				return err
			}
			if cmd.Flags().Changed("max-flights") && opts.maxFlights < 1 {
				return exit.Usagef("--max-flights %d: want 1 or more", opts.maxFlights)
			}
			return runF(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&opts.file, "config", "c", "", "the configuration `file`")
	f.IntVar(&opts.maxFlights, "max-flights", 0, "settle `N` flights, print a line for each, then drain and exit")
	f.StringVar(&opts.logFormat, "log-format", "text", "text or json")
	f.StringVar(&opts.logLevel, "log-level", "info", "debug, info, warn or error")
	return cmd
}

func run(ctx context.Context, opts *runOptions) (err error) {
	log, err := newLogger(opts.Err, opts.logFormat, opts.logLevel)
	if err != nil {
		return err
	}
	c, err := config.Load(opts.file, opts.Env)
	if err != nil {
		return err
	}
	airports, closePilots, err := c.Declare()
	if err != nil {
		return err
	}
	defer closePilots()
	for _, w := range c.Warnings() {
		log.Warn("configuration", "file", c.Path, "warning", w)
	}

	var server *health.Server
	if c.Listen != "" {
		server = health.New(c.Listen, version(), log)
		if err := server.Start(); err != nil {
			return exit.WithHint(err, "free the address, or change listen in %s", c.Path)
		}
		log.Info("health and metrics", "listen", server.Addr())
		defer func() { err = errors.Join(err, within(closeTimeout, server.Stop)) }()
		defer context.AfterFunc(ctx, server.Drain)()
	}

	cfg := c.Governor(log)
	tally := newTally(opts.Out)
	if opts.maxFlights > 0 {
		cfg.MaxFlights, cfg.OnSettled = opts.maxFlights, tally.settled
	}
	fleet, err := reach(ctx, opts.World, cfg, log)
	if err != nil || fleet == nil {
		return err
	}
	defer func() { err = errors.Join(err, within(closeTimeout, fleet.Close)) }()
	if server != nil {
		server.Follow(fleet.Health(airports))
	}
	defer context.AfterFunc(ctx, func() {
		log.Info("draining", "because", context.Cause(ctx).Error(), "grace", c.Drain())
	})()
	log.Info("flying", "airports", len(airports), "config", c.Path, "version", version())
	if err := fleet.Run(ctx, airports...); err != nil && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		return fmt.Errorf("flying: %w", err)
	}
	if opts.maxFlights > 0 {
		fmt.Fprintln(opts.Err, tally)
	}
	log.Info("stopped")
	return nil
}

// reach opens the fleet, trying until the broker answers. It gives nil, nil when
// ctx ended first: a worker that is told to stop while it waits has stopped.
func reach(ctx context.Context, w *World, cfg governor.Config, log *slog.Logger) (Fleet, error) {
	pause := openLeast
	for try := 1; ; try++ {
		opening, cancel := context.WithTimeout(ctx, openTimeout)
		fleet, err := w.Open(opening, cfg)
		cancel()
		switch {
		case err == nil:
			return fleet, nil
		case ctx.Err() != nil:
			return nil, nil
		case !errors.Is(err, governor.ErrUnreachable) && !errors.Is(err, context.DeadlineExceeded):
			return nil, err
		}
		// Half fixed, half random: a fleet that was restarted together does not
		// knock together.
		d := pause/2 + rand.N(pause/2)
		log.Warn("the broker or the store is unreachable: trying again; nothing is lost meanwhile",
			"try", try, "again_in", d.Round(10*time.Millisecond), "error", err)
		w.Wait(ctx, d)
		if ctx.Err() != nil {
			return nil, nil
		}
		pause = min(2*pause, openMost)
	}
}

// within gives a last step its own time: the context of the run has ended.
func within(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}
