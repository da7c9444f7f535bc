package governor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// awaitCanary waits until the canary's flights have landed. Anything else ends the
// replay with the rest left where it is.
func (m *mover) awaitCanary(ctx context.Context) error {
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := m.desk.Unwatch(end, m.canary); err != nil {
			m.g.log.Debug("the watch was not removed; it ends by itself", "error", err)
		}
	}()
	said := ""
	for {
		got, err := m.desk.Watched(ctx, m.canary)
		if err != nil {
			return classed(err)
		}
		landed, bad := 0, ""
		for flight, move := range got {
			switch {
			case move == "L":
				landed++
			case move == "J" || move != "" && move[0] == 'P':
				bad = fmt.Sprintf("flight %s was %s", wire.Visible(flight), moveWord(move))
			}
		}
		switch {
		case bad != "":
			return fmt.Errorf("%w: the canary failed: %s; the rest stays %s", ErrRefused, bad, m.shelf)
		case landed == len(m.canary):
			return nil
		}
		a, err := m.g.Airport(ctx, m.gate.Airport)
		if err != nil {
			return err
		}
		if a.State == Stopped || a.State == Paused {
			return fmt.Errorf("%w: the canary waits, for %s is %s; the rest stays %s", ErrRefused, a.Airport, a.State, m.shelf)
		}
		var gate GateInfo
		for _, x := range a.Gates {
			if x.Gate == m.gate.String() {
				gate = x
			}
		}
		if gate.State == Stopped || gate.State == Paused {
			return fmt.Errorf("%w: the canary waits, for %s is %s; the rest stays %s", ErrRefused, gate.Gate, gate.State, m.shelf)
		}
		if what := waitsFor(a, gate, got); what != said && m.o.Waits != nil {
			if said = what; what != "" {
				m.o.Waits(what)
			}
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}

// waitsFor says what keeps a canary's flights from landing, and until when; "" where
// they are on their way. got are their last moves.
func waitsFor(a AirportInfo, gate GateInfo, got map[string]string) string {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case a.State == Throttled:
		return fmt.Sprintf("%s is %s until %s: its vendor asked for fewer calls", a.Airport, a.State, at(a.ThrottledUntil))
	case gate.State == Delayed && gate.DelayProbeAt.IsZero():
		return fmt.Sprintf("%s is %s: its vendor is down, and one probe at a time flies until it answers", gate.Gate, gate.State)
	case gate.State == Delayed:
		return fmt.Sprintf("%s is %s: its vendor is down, and nothing but one probe flies before it answers; the next one at %s", gate.Gate, gate.State, at(gate.DelayProbeAt))
	case gate.Gate != "" && gate.WorkersActual == 0:
		return "no worker serves " + gate.Gate + ", until one is started"
	}
	for _, flight := range slices.Sorted(maps.Keys(got)) {
		if ms, held := strings.CutPrefix(got[flight], "H"); held {
			what := "flight " + wire.Visible(flight) + " failed for now and is on hold"
			if n, err := strconv.ParseInt(ms, 10, 64); err == nil {
				what += fmt.Sprintf(" for %v", time.Duration(n)*time.Millisecond)
			}
			return what
		}
	}
	return ""
}

func moveWord(code string) string {
	if code == "J" {
		return "rejected"
	}
	return "parked again (" + code[1:] + ")"
}
