package demo

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

func TestMain(m *testing.M) { testsvc.Main(m) }

func TestNaive(t *testing.T) {
	r, err := Play(t.Context(), "naive", Options{Flights: 50})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Line(), "naive: lost: 50 · error lines: 200 · recovery: manual"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOutage(t *testing.T) {
	var said bytes.Buffer
	r, err := Play(t.Context(), "outage", Options{Flights: 50, Rate: 30, Actor: "dana", Narrator: &Narrator{W: &said}})
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	line := r.Line()
	if !strings.HasPrefix(line, "traction: lost: 0 · notifications: 1 · calls to the dead vendor: ") || !strings.HasSuffix(line, " · recovery: one command") {
		t.Errorf("got %s", line)
	}
	if n := strings.Count(said.String(), "traction.notify type=GROUND_STOP scope=crm:acme reason=AIRPORT_FAULT"); n != 1 {
		t.Errorf("%d notifications were narrated, want 1:\n%s", n, said.String())
	}
	if !strings.Contains(said.String(), "STOPPED  AIRPORT_FAULT      50       0       0") {
		t.Errorf("the operator does not see 50 flights that wait:\n%s", said.String())
	}
}

func TestAThousandOfEach(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	for _, name := range Default() {
		t.Run(name, func(t *testing.T) { // alone: its pace is measured by the clock
			if _, err := Play(t.Context(), name, Options{Rate: 500}); err != nil {
				t.Error(err)
			}
		})
	}
}

// swallow confirms the Nth publish to a runway and forgets it.
type swallow struct {
	broker.Transport
	seen *atomic.Int64
	n    int64
}

func (s swallow) Publish(ctx context.Context, msgs []broker.Publishing) []error {
	var kept []broker.Publishing
	for _, m := range msgs {
		if strings.HasSuffix(m.Exchange, ".runway") && s.seen.Add(1) == s.n {
			continue
		}
		kept = append(kept, m)
	}
	errs := s.Transport.Publish(ctx, kept)
	return append(errs, make([]error, len(msgs)-len(kept))...)
}

// Each of these runs has something wrong with it, and has to say so.
func TestADefectFailsTheRun(t *testing.T) {
	var seen atomic.Int64
	for name, tt := range map[string]struct {
		scenario string
		sabotage sabotage
		says     string
	}{
		"the token was not fixed": {"outage", sabotage{vendor: func(string) int { return 401 }}, "state after the reopen: STOPPED, want OPEN"},
		"a flight is dropped":     {"outage", sabotage{broker: func(b broker.Transport) broker.Transport { return swallow{b, &seen, 7} }}, "lost: 1, want 0"},
		"a flight is parked": {"outage", sabotage{vendor: func(c string) int {
			if c == contactNumber(3).ID {
				return 404
			}
			return 0
		}}, "parked: 1, want 0"},
		"a record is rejected": {"outage", sabotage{vendor: func(c string) int {
			if c == contactNumber(3).ID {
				return 422
			}
			return 0
		}}, "rejected: 1, want 0"},
		"the slots do not hold": {"outage", sabotage{slots: 20}, "want at most the 10 slots"},
		"no outage at all":      {"naive", sabotage{fixed: true}, "dead-lettered: 0, want 30"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.sabotage.patience = 4 * time.Second
			r, err := Play(t.Context(), tt.scenario, Options{Flights: 30, Rate: 10, sabotage: tt.sabotage})
			if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want a difference %q", err, tt.says)
			}
			if len(r.Differences) == 0 || !strings.Contains(r.Line(), ": ") {
				t.Errorf("the result does not tell: %+v", r)
			}
		})
	}
}

func TestAnEndedContextEndsTheRun(t *testing.T) {
	for _, name := range Default() {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			said := &signalWriter{word: "arrive", then: cancel}
			_, err := Play(ctx, name, Options{Narrator: &Narrator{W: said}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		})
	}
}

// signalWriter calls then when the word is first written.
type signalWriter struct {
	word string
	then func()
	bytes.Buffer
}

func (w *signalWriter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.word) {
		w.then()
	}
	return w.Buffer.Write(p)
}

func TestUnknownScenario(t *testing.T) {
	if _, err := Play(t.Context(), "nope", Options{}); !errors.Is(err, governor.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
