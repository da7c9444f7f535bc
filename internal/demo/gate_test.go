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
)

func TestGate(t *testing.T) {
	var said bytes.Buffer
	r, err := Play(t.Context(), "gate", Options{Flights: 100, Rate: 200, Actor: "dana", Narrator: &Narrator{W: &said}})
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	line := r.Line()
	if !strings.HasPrefix(line, "gate: lost: 0 · notifications: 1 · calls to the moved endpoint: ") ||
		!strings.HasSuffix(line, " · landed meanwhile at the sibling: 50 · parked, then landed: 50 · recovery: 2 commands") {
		t.Errorf("got %s", line)
	}
	for _, want := range []string{"tractionctl gate reopen crm:acme/contact-sync", "tractionctl parked replay crm:acme/contact-sync", "traction.notify type=GATE_STOP scope=crm:acme/contact-sync"} {
		if strings.Count(said.String(), want) != 1 {
			t.Errorf("%q is not told once:\n%s", want, said.String())
		}
	}
}

func TestCharter(t *testing.T) {
	var said bytes.Buffer
	r, err := Play(t.Context(), "charter", Options{Flights: 400, Rate: 200, Actor: "dana", Narrator: &Narrator{W: &said}})
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if line := r.Line(); !strings.HasPrefix(line, "charter: expected: 400 · landed: 1") || !strings.Contains(line, " · parked: 0 · pending: 0 · ") {
		t.Errorf("got %s", line)
	}
}

// Each of these runs has something wrong with it, and has to say so.
func TestADefectFailsTheDayTwoRuns(t *testing.T) {
	var seen, seenRun atomic.Int64
	// The first that is asked for: in an aborted run no other is sure to fly.
	one := func(status int) func(string) int {
		var first atomic.Pointer[string]
		return func(c string) int {
			if first.CompareAndSwap(nil, &c) || *first.Load() == c {
				return status
			}
			return 0
		}
	}
	for name, tt := range map[string]struct {
		scenario string
		sabotage sabotage
		says     string
	}{
		"the sibling breaks too": {"gate", sabotage{vendor: func(string) int { return 404 }}, "its sibling: STOPPED, want OPEN"},
		"a flight is dropped":    {"gate", sabotage{broker: func(b broker.Transport) broker.Transport { return swallow{b, &seen, 20} }}, "want 50"},
		"a record is rejected":   {"gate", sabotage{vendor: one(422)}, "want 50"},
		"a seat is dropped":      {"charter", sabotage{broker: func(b broker.Transport) broker.Transport { return swallow{b, &seenRun, 7} }}, "pending: 1, want 0"},
		"a flight of it parks":   {"charter", sabotage{vendor: one(404)}, "parked: 1, want 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.sabotage.patience = 4 * time.Second
			r, err := Play(t.Context(), tt.scenario, Options{Flights: 100, Rate: 100, sabotage: tt.sabotage})
			if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want a difference %q", err, tt.says)
			}
			if len(r.Differences) == 0 {
				t.Errorf("the result does not tell: %+v", r)
			}
		})
	}
}

func TestDayTwoOnRealServices(t *testing.T) {
	testsvc.Need(t)
	t.Parallel()
	s := Services{AMQP: testsvc.SharedRabbitMQ(t), Redis: testsvc.SharedRedis(t)}
	for name, word := range map[string]string{"gate": "deploys", "charter": "landings", "batch": "in batches of"} {
		t.Run(name, func(t *testing.T) {
			s.Namespace = testsvc.Namespace(t)
			r, err := Play(t.Context(), name, Options{Services: s, Flights: 400, Rate: 200})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r.Line())
		})
		t.Run(name+" interrupted", func(t *testing.T) {
			s.Namespace = testsvc.Namespace(t)
			ctx, cancel := context.WithCancel(t.Context())
			_, err := Play(ctx, name, Options{Services: s, Flights: 400, Rate: 200, Narrator: &Narrator{W: &signalWriter{word: word, then: cancel}}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		})
	}
}
