package settle_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/traction-go/traction/pkg/settle"
)

var delays = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
	return time.Duration(rapid.Int64Range(1, 24*3600).Draw(t, "seconds")) * time.Second
}), 0, 6)

func drawPolicy(t *rapid.T) settle.Policy {
	return settle.Policy{Transient: delays.Draw(t, "transient"), Internal: delays.Draw(t, "internal")}
}

func drawHolds(t *rapid.T) settle.Holds {
	return settle.Holds{
		Transient: rapid.IntRange(0, 8).Draw(t, "spent transient"),
		Internal:  rapid.IntRange(0, 8).Draw(t, "spent internal"),
	}
}

// checkMove holds what is true of every move there is.
func checkMove(t *rapid.T, m settle.Move, spent settle.Holds, p settle.Policy) {
	budget := map[settle.HoldReason][]time.Duration{settle.HoldTransient: p.Transient, settle.HoldInternal: p.Internal}
	switch m.Settlement {
	case settle.Land:
		if m.Delay != 0 || m.HeldFor != "" || m.Reason != "" {
			t.Fatalf("a landing carries a hold or a reason: %+v", m)
		}
	case settle.Hold:
		d := budget[m.HeldFor]
		n := spent.Of(m.HeldFor)
		if n >= len(d) || m.Delay != d[n] {
			t.Fatalf("hold %d of %v lasts %v: %+v", n+1, d, m.Delay, m)
		}
		if m.Holds != spent.Add(m.HeldFor) || m.Holds.Total() != spent.Total()+1 {
			t.Fatalf("a hold spent %v after %v", m.Holds, spent)
		}
	case settle.Park:
		if m.Reason == "" || m.Holds != spent || m.Delay != 0 {
			t.Fatalf("parked without a reason, or at a cost: %+v", m)
		}
		if m.Reason == settle.ReasonHoldBudget && spent.Transient < len(p.Transient) ||
			m.Reason == settle.ReasonInternal && spent.Internal < len(p.Internal) {
			t.Fatalf("parked before its budget was spent: %+v, spent %v", m, spent)
		}
	case settle.Defer:
		if m.Holds != spent || m.Delay != 0 || m.HeldFor != "" || m.Reason != "" {
			t.Fatalf("a deferral costs something: %+v, spent %v", m, spent)
		}
	default:
		t.Fatalf("no settlement: %+v", m)
	}
}

// Every outcome, real or made up, with any budget and any policy, leads to
// exactly one of the four settlements, and to a sound alternative where the
// store has a choice.
func TestDecideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := settle.Outcome(rapid.Uint8().Draw(t, "outcome"))
		p, spent := drawPolicy(t), drawHolds(t)
		plan := settle.Decide(o, spent, p)
		checkMove(t, plan.Move, spent, p)
		switch o {
		case settle.AirportFault, settle.RateLimit, settle.Transient, settle.Conflict:
			checkMove(t, plan.Otherwise, spent, p)
			if plan.Move.Settlement == plan.Otherwise.Settlement {
				t.Fatalf("the alternative is no alternative: %+v", plan)
			}
			if plan.Move.Settlement != settle.Defer && plan.Otherwise.Settlement != settle.Defer {
				t.Fatalf("neither choice is off budget: %+v", plan)
			}
		default:
			if plan.Otherwise != (settle.Move{}) {
				t.Fatalf("%v has an alternative: %+v", o, plan.Otherwise)
			}
		}
		if again := settle.Decide(o, spent, p); again != plan {
			t.Fatalf("a second try decides otherwise: %+v, then %+v", plan, again)
		}
	})
}

// Follow one flight through any sequence of failures: its budget never shrinks,
// it is never held more often than the policy says, and it ends.
func TestPatienceEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		var spent settle.Holds
		holds := 0
		for range len(p.Transient) + len(p.Internal) + 1 {
			o := rapid.SampledFrom([]settle.Outcome{settle.Transient, settle.Conflict, settle.Internal, settle.AirportFault, settle.RateLimit}).Draw(t, "outcome")
			plan := settle.Decide(o, spent, p)
			m := plan.Move
			if m.Settlement == settle.Defer {
				m = plan.Otherwise // a fault that stopped nothing
			}
			if m.Settlement == settle.Park {
				return
			}
			if m.Settlement != settle.Hold || m.Holds.Transient < spent.Transient || m.Holds.Internal < spent.Internal {
				t.Fatalf("budget went from %v to %+v", spent, m)
			}
			holds++
			spent = m.Holds
			if back, err := settle.ParseHolds(spent.String()); err != nil || back != spent {
				t.Fatalf("the header loses the budget: %v, %v", back, err)
			}
			if spent.Transient > len(p.Transient) || spent.Internal > len(p.Internal) || holds != spent.Total() {
				t.Fatalf("%d holds, spent %v, policy %+v", holds, spent, p)
			}
		}
		t.Fatalf("still held after %d holds with policy %+v", holds, p)
	})
}

// What did not fly spends nothing, and is never lost between the three ways to
// treat it.
func TestFindProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := settle.Finding(rapid.Uint8().Draw(t, "finding"))
		onStop := rapid.SampledFrom([]settle.OnStop{settle.ParkOnStop, settle.StayOnStop}).Draw(t, "on stop")
		spent := drawHolds(t)
		step := settle.Find(f, onStop, spent)
		ways := 0
		for _, way := range []bool{step.Return, step.Wait, step.Move.Settlement != 0} {
			if way {
				ways++
			}
		}
		if ways != 1 {
			t.Fatalf("%d ways at once: %+v", ways, step)
		}
		switch step.Move.Settlement {
		case settle.Hold, settle.Park:
			if step.Move.Holds != spent {
				t.Fatalf("unflown, and it cost a hold: %+v, spent %v", step.Move, spent)
			}
		case settle.Defer:
			t.Fatalf("unflown, and it lost its place: %+v", step.Move)
		}
	})
}

func TestHoldsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := settle.Holds{
			Transient: rapid.IntRange(0, 1_000_000).Draw(t, "transient"),
			Internal:  rapid.IntRange(0, 1_000_000).Draw(t, "internal"),
		}
		if back, err := settle.ParseHolds(h.String()); err != nil || back != h {
			t.Fatalf("%+v writes as %q and reads as %+v, %v", h, h, back, err)
		}
	})
}
