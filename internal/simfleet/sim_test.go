package simfleet

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/traction-go/traction/internal/store"
)

var (
	oneSeed = flag.Uint64("sim.seed", 0, "play this seed alone, and print its story")
	runs    = flag.Uint64("sim.runs", 12, "how many seeds to play")
	from    = flag.Uint64("sim.from", 1, "the first seed")
	profile = flag.String("sim.profile", "", "play only this kind of trouble: "+strings.Join(Profiles, ", "))
	logs    = flag.Bool("sim.log", false, "print the processes' logs too")
)

// TestFleet plays seeds. For thousands: go test ./internal/simfleet -sim.runs 5000 -timeout 0
func TestFleet(t *testing.T) {
	if *oneSeed != 0 {
		r := play(t, *oneSeed)
		for _, line := range r.Story {
			fmt.Println(line)
		}
		fmt.Printf("%+v\n", r.Plan)
		return
	}
	kills, convicted, limits := 0, 0, 0
	var took time.Duration
	for seed := *from; seed < *from+*runs; seed++ {
		r := play(t, seed)
		kills, convicted, limits, took = kills+r.Kills, convicted+r.Convicted, limits+len(r.Limits), took+r.Took
	}
	t.Logf("%d seeds, %s of virtual time, %d kills, %d convictions, %d of them by a documented limit", *runs, took.Round(time.Second), kills, convicted, limits)
	if *profile == "" && *runs >= 10 && (kills == 0 || convicted == 0) {
		t.Error("nothing was killed or convicted: nothing was tested")
	}
}

// TestMain keeps the library quiet that tells of every dial that fails.
func TestMain(m *testing.M) {
	store.Quiet()
	goleak.VerifyTestMain(m)
}

// tail is how much of a story a failed seed prints.
const tail = 60

func play(t *testing.T, seed uint64) *Result {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	if *logs {
		log = slog.New(slog.NewTextHandler(os.Stdout, nil))
	}
	var r *Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = Run(PlanOf(seed, *profile), log); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	})
	for _, wrong := range r.Wrong {
		t.Errorf("seed %d (%s): %s", seed, r.Plan.Profile, wrong)
	}
	if len(r.Wrong) > 0 {
		if *oneSeed == 0 {
			for _, line := range r.Story[max(0, len(r.Story)-tail):] {
				t.Log(line)
			}
		}
		t.Errorf("replay it: go test ./internal/simfleet -run TestFleet -sim.seed %d", seed)
	}
	return r
}
