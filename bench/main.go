package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == crewVerb {
		os.Exit(serve(os.Args[2]))
	}
	os.Exit(run())
}

// serve has this process be one of a measurement's workers.
func serve(spec string) int {
	var c crew
	err := json.Unmarshal([]byte(spec), &c)
	if err == nil {
		err = c.work()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench crew:", err)
		return 1
	}
	return 0
}

// figure is one measurement: what it is called, and how it is taken. It returns a
// ratio, or another number where its name says so, and a line of what was measured.
type figure struct {
	name string
	take func(ctx context.Context, b *bench) (ratio float64, how string, err error)
}

var figures = []figure{
	{"governed/plain", governedAgainstPlain},
	{"governed/asynq", governedAgainstAsynq},
	{"governed/watermill", governedAgainstWatermill},
	{"ledger-on/off", ledgerOnAgainstOff},
	{"batched/single", batchedAgainstSingle},
	{"dispatch/publish", dispatchAgainstPublish},
	{"replay/shovel", replayAgainstShovel},
	{"pace/slots", paceAgainstSlots},
	{"dead-vendor-calls/naive", deadVendorCalls},
	{"feed-bound/unbound", feedAgainstNone},
	{"fleet-8/1", fleetAgainstOne},
	{"stop-paused-ms", stopSpeed},
	{"charter-memory-mb", charterMemory},
	{"runway-long/short", runwayGrowth},
	{"idle-cpu/core", idleCost},
	{"airport-list/read", airportList},
	{"airports-1000/1", airportGrowth},
}

// bench is what the figures are taken on.
type bench struct {
	amqp, redis string
	n           int
	rounds      int
	used        string // processor time for a message of the last side, where it is counted
	longest     int    // flights on the longest runway
	field       *field // nil: not built yet
}

// tell prints a number beside the one that a figure returns.
func (b *bench) tell(name string, v float64) { fmt.Printf("%s %s\n", name, written(v)) }

// amount is how many messages a round has: what -n says, else the figure's own.
func (b *bench) amount(own int) int {
	if b.n > 0 {
		return b.n
	}
	return own
}

func run() int {
	b := &bench{}
	flag.StringVar(&b.amqp, "amqp-url", os.Getenv("TRACTION_TEST_AMQP_URL"), "broker")
	flag.StringVar(&b.redis, "redis-url", os.Getenv("TRACTION_TEST_REDIS_URL"), "store")
	flag.IntVar(&b.n, "n", 0, "messages a round (default each figure's own)")
	flag.IntVar(&b.rounds, "rounds", 3, "rounds, taken in turn; the median counts")
	flag.IntVar(&b.longest, "longest", 1000000, "flights on the longest runway")
	only := flag.String("only", "", "take these figures alone, separated by commas")
	flag.Parse()
	if b.amqp == "" || b.redis == "" {
		fmt.Fprintln(os.Stderr, "bench: --amqp-url and --redis-url are required; scripts/bench.sh starts services and names them")
		return 2
	}
	chosen, err := choose(*only)
	if err != nil || b.rounds < 1 || b.n < 0 {
		fmt.Fprintln(os.Stderr, "bench: want -rounds of 1 or more, -n of 0 or more, and figures that there are:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer b.leave()
	for _, f := range chosen {
		ratio, how, err := f.take(ctx, b)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", f.name, err)
			return 1
		}
		b.tell(f.name, ratio)
		fmt.Fprintf(os.Stderr, "  %s\n", how)
	}
	return 0
}

// choose gives the figures that -only names, all for "".
func choose(only string) ([]figure, error) {
	if only == "" {
		return figures, nil
	}
	var chosen []figure
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(figures, func(f figure) bool { return f.name == name })
		if i < 0 {
			var all []string
			for _, f := range figures {
				all = append(all, f.name)
			}
			return nil, fmt.Errorf("no figure %q; there are %s", name, strings.Join(all, ", "))
		}
		chosen = append(chosen, figures[i])
	}
	return chosen, nil
}

// written gives a number two figures after the point, and a small one four.
func written(ratio float64) string {
	if ratio < 0.1 && ratio > 0 {
		return fmt.Sprintf("%.4f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}
