package top

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/pkg/governor"
)

// envFake makes the test binary a program that shows a fake installation: what the
// tests with a real terminal run.
const envFake = "TOP_TEST_FAKE"

func TestMain(m *testing.M) {
	if os.Getenv(envFake) != "" {
		os.Exit(fakeMain())
	}
	goleak.VerifyTestMain(m)
}

// fakeMain shows the view as the command does. TOP_TEST_FAKE=panic breaks the
// third reading, =bug the view itself; =environment prints that and ends.
func fakeMain() int {
	if os.Getenv(envFake) == "environment" {
		fmt.Printf("%q\n", os.Environ())
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	f := newFake()
	f.pace = 13
	var r Reader = f
	switch os.Getenv(envFake) {
	case "panic":
		r = &breaking{fake: f}
	}
	if n, _ := strconv.Atoi(os.Getenv("TOP_TEST_AIRPORTS")); n > 0 {
		f.airports = many(n)
	}
	if os.Getenv("TOP_TEST_STALE") != "" {
		r = &failing{fake: f}
	}
	began := time.Now()
	clock := func() time.Time { return clitest.Now.Add(time.Since(began)) }
	if os.Getenv(envFake) == "bug" {
		// A row that cannot be drawn: the view breaks, not the reading.
		tables[tabAirports] = table{name: "airports", columns: make([]column, 99), orders: []string{"state"}}
	}
	told, err := Run(ctx, Options{
		Now: clock, Reader: r, Verbs: f, Namespace: "tr", Interval: 200 * time.Millisecond, Color: os.Getenv("NO_COLOR") == "", ASCII: ASCIIOnly(os.Getenv),
	}, os.Stdin, os.Stdout)
	if told != "" {
		fmt.Println("told:", told)
	}
	fmt.Printf("ended: %.120v\n", err)
	return 0
}

// many is a large installation: some stopped, some with parked flights.
func many(n int) []governor.AirportInfo {
	out := make([]governor.AirportInfo, n)
	for i := range out {
		a := governor.AirportInfo{
			Airport: fmt.Sprintf("vendor-%04d:eu", i), State: governor.OpenState, Since: ago(time.Hour), Runway: i * 7 % 97, Holding: i % 3,
			InAir: i % 5, Landed: int64(1000 + i), Workers: 2,
		}
		switch {
		case i%41 == 7:
			a.State, a.Reason, a.Evidence = governor.Stopped, "AIRPORT_FAULT", "401 invalid_grant"
		case i%17 == 3:
			a.Parked = i
		}
		a.Gates = []governor.GateInfo{{Gate: a.Airport + "/sync", State: governor.OpenState, Runway: a.Runway, Landed: a.Landed}}
		out[i] = a
	}
	return out
}

// breaking panics in the third reading.
type breaking struct {
	*fake
	n int
}

func (b *breaking) Airports(ctx context.Context) ([]governor.AirportInfo, error) {
	if b.n++; b.n == 3 {
		panic("a reading broke")
	}
	return b.fake.Airports(ctx)
}

// failing stops answering after the third reading, and answers again after the
// thirtieth.
type failing struct {
	*fake
	n int
}

func (f *failing) Airports(ctx context.Context) ([]governor.AirportInfo, error) {
	if f.n++; f.n > 3 && f.n < 30 {
		return nil, errAway
	}
	return f.fake.Airports(ctx)
}
