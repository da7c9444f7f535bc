package store_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// restore has the lane's process offer and restore.
func (b *board) restore(knew ...string) (int, string) {
	b.t.Helper()
	ctx := context.Background()
	if err := b.a.Offer(ctx); err != nil {
		b.t.Fatal(err)
	}
	n, waits, err := b.a.Restore(ctx, knew)
	if err != nil {
		b.t.Fatal(err)
	}
	return n, waits
}

func TestWhatIsALoss(t *testing.T) {
	for name, lose := range map[string]func(b *board){
		"a lower tick":              func(b *board) { b.forget(b.keys.Tick()) },
		"an older epoch":            func(b *board) { b.set(b.keys.Airport(), "epoch", 1) },
		"a missing marked airport":  func(b *board) { b.forget(b.keys.Airport()); b.find("") },
		"a tick lower by the least": func(b *board) { b.raw.Decr(context.Background(), b.keys.Tick()) },
	} {
		t.Run(name, func(t *testing.T) {
			onBoard(t, store.Slots{N: 5, Per: time.Second, Stamp: 1}, func(b *board) {
				fence := b.status("").Fence
				lose(b)
				want(b.t, b.clear("x"), store.AirportStops)
				b.beat()
				b.clear("x")
				st := b.status("")
				if !st.Lost || st.Reason != "STATE_LOST" || st.Incident == "" || st.Fence > fence {
					b.t.Errorf("%+v", st)
				}
				if in, n := b.incidents(), b.toldOf(wire.StateLost); len(in) != 1 || len(n) != 1 || n[0].Key != st.Incident+"/STATE_LOST" {
					b.t.Errorf("%+v\n%+v", in, n)
				}
				if name == "a lower tick" {
					if n, err := b.raw.Exists(context.Background(), b.keys.Slots()).Result(); n != 0 || err != nil {
						b.t.Errorf("the ring was kept: what was taken since is not known (%v)", err)
					}
				}
			})
		})
	}
	t.Run("an older epoch of a gate", func(t *testing.T) {
		onBoard(t, store.Slots{}, func(b *board) {
			b.set(b.keys.Gate("contacts"), "epoch", 1)
			want(b.t, b.clear("x"), store.GateStays)
			if st := b.status("contacts"); !st.Lost || st.Covered || b.status("").Lost {
				b.t.Errorf("%+v", st)
			}
		})
	})
}

// Whoever notices a loss after the first, by a higher tick or epoch, adds nothing.
func TestOneLossIsOneIncidentWhoeverNotices(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		w2 := b.other("w2")
		b.at(100)
		for range 9 {
			w2.beat()
		}
		b.forget(b.keys.Tick())
		b.beat()
		first := b.status("")
		b.now += 4000
		b.d.setTime(b.now)
		w2.beat()
		if st := b.status(""); st.Incident != first.Incident || !st.LostAt.After(first.LostAt) {
			b.t.Errorf("%+v\n%+v", first, st)
		}
		if in, told := b.incidents(), b.toldOf(wire.StateLost); len(in) != 1 || len(told) != 1 {
			b.t.Errorf("%d incidents, %d told", len(in), len(told))
		}
	})
}

func TestAHealthyFleetComesBackAfterTenSeconds(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		fence := b.status("").Fence
		loseBoth(b)
		seen := b.a.SeenEpoch("")
		if n, _ := b.restore("w1"); n != 0 {
			b.t.Fatal("restored at once")
		}
		b.at(9999)
		if n, _ := b.restore("w1"); n != 0 {
			b.t.Fatal("restored before 10 s")
		}
		b.at(1)
		lost := b.status("").Incident
		if n, waits := b.restore("w1"); n != 1 {
			b.t.Fatalf("restored %d, waits for %q", n, waits)
		}
		a, g := b.status(""), b.status("contacts")
		if a.State != wire.Open || g.State != wire.Open || a.Fence != fence || a.Epoch <= seen || b.incident(lost).ClosedBy != "restored" {
			b.t.Errorf("%+v\n%+v", a, g)
		}
		want(b.t, b.clear("x"), store.Cleared)
	})
}

func TestARestoreWaitsForEverybody(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		w2 := b.other("w2")
		loseBoth(b)
		b.at(8000)
		w2.beat()
		b.at(2000)
		if n, waits := b.restore("w1"); n != 0 || waits != "w2" {
			b.t.Fatalf("restored %d, waits for %q: w2 beats", n, waits)
		}
		b.steady(11 * time.Second) // w2 beats no more, but was known
		if n, waits := b.restore("w1", "w2"); n != 0 || waits != "w2" {
			b.t.Fatalf("restored %d, waits for %q: w2 was known", n, waits)
		}
		if n, waits := b.restore("w1"); n != 1 {
			b.t.Errorf("restored %d, waits for %q", n, waits)
		}
	})
}

func TestWhoDoesNotRememberRestoresNothing(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		loseBoth(b)
		b.restore()
		b.at(11_000)
		fresh := b.other("t1")
		ctx := context.Background()
		if err := fresh.a.Offer(ctx); err != nil {
			b.t.Fatal(err)
		}
		if n, _, err := fresh.a.Restore(ctx, nil); n != 0 || err != nil {
			b.t.Errorf("a tower that began after the loss restored %d, %v", n, err)
		}
	})
}

func TestWhatWasStoppedIsNotRestored(t *testing.T) {
	for name, shut := range map[string]func(b *board){
		"stopped": func(b *board) { b.take(1); stopAirport(b) },
		"paused":  func(b *board) { b.pause(""); b.beat() },
		"canary":  func(b *board) { b.reopen("", 3); b.beat() },
		"a fault while lost": func(b *board) {
			b.take(1)
			loseBoth(b)
			stopAirport(b)
		},
		"a pause while lost": func(b *board) { loseBoth(b); b.pause(""); b.beat() },
	} {
		t.Run(name, func(t *testing.T) {
			onBoard(t, store.Slots{}, func(b *board) {
				shut(b)
				if !b.status("").Lost {
					loseBoth(b)
				}
				b.restore()
				b.at(20_000)
				if n, _ := b.restore("w1"); n != 0 || b.status("").State != wire.Stopped {
					b.t.Fatalf("restored %d: %+v", n, b.status(""))
				}
				if r := b.reopen("", 0); r != store.Done || b.status("").State != wire.Open || b.status("").Paused {
					b.t.Errorf("a human could not reopen it: %v", r)
				}
			})
		})
	}
}

// A pause that nobody has heard of yet stays through a restore.
func TestAPauseOfACoveredGateStaysThroughARestore(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		ctx := context.Background()
		loseBoth(b)
		b.at(11_000)
		if err := b.a.Offer(ctx); err != nil {
			b.t.Fatal(err)
		}
		b.pause("contacts")
		if n, waits, err := b.a.Restore(ctx, nil); n != 1 || err != nil {
			b.t.Fatal(n, waits, err)
		}
		if st := b.status("contacts"); st.State != wire.Open || !st.Paused || st.PausedBy != "dana" {
			b.t.Errorf("%+v", st)
		}
	})
}

// A stop of a gate stays through the airport's loss, under its old incident and key.
func TestAStoppedGateStaysStoppedThroughALoss(t *testing.T) {
	for name, back := range map[string]func(b *board){
		"restored by a tower":  func(b *board) { b.at(11_000); b.restore("w1") },
		"reopened by a human":  func(b *board) { b.at(6000); b.restore(); b.reopen("", 0) },
		"canaried by a human":  func(b *board) { b.at(6000); b.restore(); b.reopen("", 2) },
		"paused and then back": func(b *board) { b.pause(""); b.at(6000); b.restore(); b.reopen("", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			onBoard(t, store.Slots{}, func(b *board) {
				b.take(3)
				stopGate(b)
				before := b.status("contacts")
				if _, err := b.a.Outbox(context.Background(), time.Minute, 10, nil, nil); err != nil {
					b.t.Fatal(err)
				}
				b.loseAll()
				b.d.setTime(b.now)
				b.find("")
				b.find("contacts")
				b.beat()
				back(b)
				st := b.status("contacts")
				if st.State != wire.Stopped || st.Lost || st.Incident != before.Incident || st.Epoch <= before.Epoch || st.Fence < before.Fence {
					b.t.Fatalf("%+v", st)
				}
				if in := b.incident(before.Incident); in.ID == "" || in.ClosedAt != 0 {
					b.t.Errorf("%+v", in)
				}
				if n := b.toldOf(wire.GateStop); len(n) != 1 || n[0].Key != before.Incident+"/GATE_STOP" {
					b.t.Errorf("%+v", n)
				}
			})
		})
	}
}

// A canary's incident that the store forgot does not leave its stop without one.
func TestACanaryThroughALossStopsWithAnIncident(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.take(3)
		stopGate(b)
		b.reopen("contacts", 2)
		b.beat()
		b.loseAll()
		b.d.setTime(b.now)
		b.find("")
		b.find("contacts")
		b.at(6000)
		b.restore()
		b.reopen("", 0)
		if st := b.status("contacts"); st.State != wire.Canary {
			b.t.Fatalf("%+v", st)
		}
		b.at(1)
		b.take(1)
		b.end(1, settle.GateFault)
		if in := b.incident(b.status("contacts").Incident); in.ID == "" || in.ClosedAt != 0 {
			b.t.Errorf("stopped without an open incident: %+v", b.status("contacts"))
		}
	})
}

func TestAReopenGoesAboveAllThatWasSeen(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.now += 10_000
		b.d.setTime(b.now)
		b.beat()
		b.pause("")
		b.reopen("", 0)
		b.beat()
		seen := b.a.SeenEpoch("")
		b.now -= 9000
		b.d.setTime(b.now)
		b.forget(b.keys.Airport(), b.keys.Tick())
		w2 := b.other("w2")
		ctx := context.Background()
		_, epoch, err := w2.a.BeginBirth(ctx, "")
		if err == nil {
			_, err = w2.a.FinishBirth(ctx, "", epoch, true, store.Slots{})
		}
		if err != nil {
			b.t.Fatal(err)
		}
		b.set(b.keys.Offers(), "w1", b.offerOf(seen))
		b.now += 6000
		b.d.setTime(b.now)
		b.op = b.s.Airport(modelAirport, "dana", "contacts") // a command remembers nothing
		if r := b.reopen("", 0); r != store.Done {
			b.t.Fatal(r)
		}
		b.raw.Set(ctx, b.keys.Tick(), 1<<40, 0)
		b.beat()
		if st := b.status(""); st.State != wire.Open || st.Epoch <= seen {
			b.t.Errorf("lost again: %+v, seen %d", st, seen)
		}
	})
}

func (b *board) offerOf(seen int64) string {
	return `{"seen":{"` + modelAirport + `":` + strconv.FormatInt(seen, 10) + `}}`
}

// A gate that is still covered when its airport stands is lost by itself, with an
// incident that is told.
func TestAGateThatStayedCoveredIsLostByItself(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		loseBoth(b)
		b.at(6000)
		alone := b.s.Airport(modelAirport, "dana") // knows no gate
		if _, err := alone.Reopen(context.Background(), "", 0, "dana", "fixed", true); err != nil {
			b.t.Fatal(err)
		}
		if st := b.status("contacts"); !st.Covered {
			b.t.Fatalf("%+v", st)
		}
		b.beat()
		if st := b.status("contacts"); st.Covered || !st.Lost || b.incident(st.Incident).ClosedAt != 0 || st.Incident == "" {
			b.t.Errorf("%+v", st)
		}
	})
}

func TestCoveredGatesOpenWithTheirAirport(t *testing.T) {
	for _, canary := range []int{0, 2} {
		onBoard(t, store.Slots{}, func(b *board) {
			loseBoth(b)
			before := b.status("contacts")
			b.at(6000)
			b.reopen("", canary)
			if st := b.status("contacts"); st.State != wire.Open || st.Lost || st.Covered || st.Epoch <= before.Epoch || st.Fence <= before.Fence {
				b.t.Errorf("canary %d: %+v", canary, st)
			}
			if n := len(b.incidents()); n != 1 {
				b.t.Errorf("%d incidents for one loss", n)
			}
		})
	}
}

// A tower that brings an airport back opens no gate that nobody remembers.
func TestAGateNobodyRemembersIsLostByItself(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		ctx := context.Background()
		tower := b.s.Airport(modelAirport, "t1") // has seen the airport alone
		beat := func() {
			if _, err := tower.Beat(ctx, store.BeatCall{Incarnations: []string{"t1.1"}, Interval: 2 * time.Second, Kind: store.TowerOnly}); err != nil {
				b.t.Fatal(err)
			}
		}
		beat()
		loseBoth(b)
		for range 6 {
			b.now += 2000
			b.d.setTime(b.now)
			beat()
		}
		tower.AddGates("contacts")
		if err := tower.Offer(ctx); err != nil {
			b.t.Fatal(err)
		}
		if n, waits, err := tower.Restore(ctx, nil); n != 1 || err != nil {
			b.t.Fatal(n, waits, err)
		}
		st := b.status("contacts")
		if b.status("").State != wire.Open || !st.Lost || st.Covered || b.incident(st.Incident).ID == "" || len(b.toldOf(wire.StateLost)) != 2 {
			b.t.Errorf("%+v, told %+v", st, b.told())
		}
	})
}

// A loss or birth from a time that was taken back holds nobody up for longer.
func TestALossIsNotWaitedForWhenTheClockWasSetBack(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		loseBoth(b)
		b.now -= 3600_000
		b.d.setTime(b.now)
		b.beat()
		if r := b.reopen("", 0); r != store.NotYet {
			b.t.Fatal(r)
		}
		b.at(5000)
		if r := b.reopen("", 0); r != store.Done {
			b.t.Errorf("%v", r)
		}
	})
}

// Births.

func TestABirthIsTakenOverAfterTenSeconds(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		birthOf("contacts")(b)
		ctx := context.Background()
		w2 := b.other("w2")
		if born, _, _ := w2.a.BeginBirth(ctx, "contacts"); born != store.AtIt {
			b.t.Fatal(born)
		}
		first := b.status("contacts").Epoch
		b.at(9999)
		if born, _, _ := w2.a.BeginBirth(ctx, "contacts"); born != store.AtIt {
			b.t.Fatal(born)
		}
		b.at(1)
		born, epoch, _ := w2.a.BeginBirth(ctx, "contacts")
		if born != store.Look || epoch <= first {
			b.t.Fatal(born, epoch)
		}
		if late, _ := b.a.FinishBirth(ctx, "contacts", first, false, store.Slots{}); late != store.NotMine {
			b.t.Fatal("the first one finished a birth that is no longer its own")
		}
		if born, err := w2.a.FinishBirth(ctx, "contacts", epoch, false, store.Slots{}); born != store.Stands || err != nil {
			b.t.Error(born, err)
		}
	})
}

func TestAGateIsBornAfterItsAirport(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.forget(b.keys.Airport(), b.keys.Gate("contacts"))
		if born, _, err := b.a.BeginBirth(context.Background(), "contacts"); born != store.AirportFirst || err != nil {
			b.t.Error(born, err)
		}
	})
}

func TestReopenWithoutAStatus(t *testing.T) {
	onBoard(t, store.Slots{}, func(b *board) {
		b.at(100)
		b.forget(b.keys.Gate("contacts"))
		r, err := b.op.Reopen(context.Background(), "contacts", 0, "dana", "why", false)
		if err != nil || r.Result != store.Absent {
			b.t.Fatal(r, err)
		}
		if r := b.reopen("contacts", 0); r != store.NotYet || !b.status("contacts").Lost {
			b.t.Fatalf("%v %+v: with a marker it is lost first", r, b.status("contacts"))
		}
		b.at(5000)
		if r := b.reopen("contacts", 0); r != store.Done {
			b.t.Error(r)
		}
	})
}
