package demo

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func TestBatch(t *testing.T) {
	var said bytes.Buffer
	r, err := Play(t.Context(), "batch", Options{Flights: 250, Rate: 1000, Narrator: &Narrator{W: &said}})
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	var got []string
	for _, one := range r.All() {
		got = append(got, one.Line())
	}
	for i, want := range []string{
		`^naive: error lines: [1-9]\d* · writes: \d{4,} · conflicts: [1-9]\d* · dead-lettered: \d+ · drain: \d+s$`,
		`^traction: error lines: \d+ · writes: \d+ · conflicts: \d+ · lost: 0 · drain: \d+s$`,
	} {
		if len(got) != 2 || !regexp.MustCompile(want).MatchString(got[i]) {
			t.Errorf("got %q, want line %d like %s", got, i, want)
		}
	}
	if !strings.Contains(said.String(), "batch: 250 events") || strings.Contains(said.String(), "traction.notify") {
		t.Errorf("it was told so:\n%s", said.String())
	}
}

// Each of these runs has something wrong with it, and has to say so.
func TestADefectFailsTheBatchRun(t *testing.T) {
	var seen atomic.Int64
	third := eventNumber(2).Payment.ID
	for name, tt := range map[string]struct {
		sabotage sabotage
		says     string
	}{
		"nobody fights":          {sabotage{fixed: true}, "conflicts: 0, want some"},
		"no batches":             {sabotage{batch: 1}, "want at most one for each 5 of the naive"},
		"a rebuild is forgotten": {sabotage{forgets: third}, "payments whose reports miss an event: 1, want 0"},
		"a flight is dropped":    {sabotage{broker: func(b broker.Transport) broker.Transport { return swallow{b, &seen, 7} }}, "lost: 1, want 0"},
		"a record is rejected": {sabotage{vendor: func(payment string) int {
			if payment == third {
				return 422
			}
			return 0
		}}, "landed: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.sabotage.patience = 6 * time.Second // only a flight that is dropped is waited for
			r, err := Play(t.Context(), "batch", Options{Flights: 100, Rate: 1000, sabotage: tt.sabotage})
			if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want a difference %q", err, tt.says)
			}
			if len(r.All()) != 2 || len(r.Facts) == 0 {
				t.Errorf("the result does not tell: %+v", r)
			}
		})
	}
}

func TestADeadlockIsAConflict(t *testing.T) {
	for err, want := range map[error]settle.Outcome{errDeadlock: settle.Conflict, errors.New("a bug"): settle.Internal, nil: settle.Landed} {
		if err != nil {
			err = fmt.Errorf("rebuild: %w", err)
		}
		if got := reportDeadlock(t.Context(), governor.Meta{}, err); got.Outcome != want {
			t.Errorf("%v: %v, want %v", err, got.Outcome, want)
		}
	}
}
