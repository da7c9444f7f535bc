package charter

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/traction-go/traction/pkg/settle"
)

func TestMoves(t *testing.T) {
	for _, c := range []struct {
		from  State
		step  Step
		to    State
		moves bool
	}{
		{Empty, Dispatch, Dispatched, true},
		{Dispatched, Dispatch, Dispatched, false},
		{Landed, Dispatch, Dispatched, false},
		{Parked, Dispatch, Dispatched, false},
		{Empty, Land, Landed, true},
		{Discarded, Land, Landed, true}, // a landing is the truth, whenever it is told
		{Landed, Land, Landed, false},
		{Dispatched, Reject, Rejected, true},
		{Landed, Reject, Rejected, false},
		{Parked, Skip, Skipped, true}, // replayed after an abort
		{Landed, Park, Parked, false},
		{Rejected, Park, Parked, true},
		{Parked, Discard, Discarded, true},
		{Rejected, Discard, Discarded, true},
		{Dispatched, Discard, Discarded, false},
		{Landed, Discard, Discarded, false},
		{Empty, Abort, Skipped, true},
		{Dispatched, Abort, Skipped, false},
		{Parked, Replay, Parked, false},
	} {
		to, moves := Move(c.from, c.step)
		if moves != c.moves || moves && to != c.to {
			t.Errorf("%v, step %d: %v %v, want %v %v", c.from, c.step, to, moves, c.to, c.moves)
		}
	}
}

func TestBooksBalanceOverAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "seats")
		seats := make([]State, n)
		books := Count(n, seats)
		landed := map[int]bool{}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			i := rapid.IntRange(0, n-1).Draw(t, "seat")
			step := Step(rapid.IntRange(0, int(Replay)).Draw(t, "step"))
			if to, ok := Move(seats[i], step); ok {
				seats[i] = to
			}
			landed[i] = landed[i] || step == Land
			books = Count(n, seats)
			if err := books.Check(); err != nil {
				t.Fatal(err)
			}
			if landed[i] != (seats[i] == Landed) {
				t.Fatalf("seat %d is %v; a landing was told: %v", i, seats[i], landed[i])
			}
			if books.Ended()+books.Dispatched+Count(n, seats).Pending()-books.Dispatched != n {
				t.Fatalf("%+v", books)
			}
		}
	})
}

func TestPacked(t *testing.T) {
	p := []byte{0x52, 0x06}
	for seat, want := range []State{Landed, Parked, Discarded, Empty, Empty} {
		if got := At(p, seat); got != want {
			t.Errorf("seat %d: %v, want %v", seat, got, want)
		}
	}
	if At(p, -1) != Empty {
		t.Error("a seat before the first")
	}
}

func TestDigestTellsSourcesApart(t *testing.T) {
	sum := func(ids ...string) (blocks []Block) {
		d := NewDigester()
		for _, id := range ids {
			if d.Add(id) {
				b, _ := d.Block()
				blocks = append(blocks, b)
			}
		}
		if b, ok := d.Block(); ok && b.Seats < BlockSeats {
			blocks = append(blocks, b)
		}
		return blocks
	}
	a, b := sum("b1", "b2"), sum("b12", "")
	if a[0].Sum == b[0].Sum {
		t.Fatal("two sources with the same concatenation have one digest")
	}
	if sum("b1", "b2")[0] != a[0] || sum("b2", "b1")[0].Sum == a[0].Sum {
		t.Fatal("the digest does not follow the order alone")
	}
	long := make([]string, BlockSeats+1)
	got := sum(long...)
	if len(got) != 2 || got[0].Seats != BlockSeats || got[1].Seats != 1 || got[1].Index != 1 {
		t.Fatalf("%+v", got)
	}
	back, err := ParseBlock(0, a[0].String())
	if err != nil || back != a[0] {
		t.Fatalf("%v %v", back, err)
	}
	for _, bad := range []string{"", "3", "x:00", "0:" + a[0].Sum, "2000:" + a[0].Sum, "2:12"} {
		if _, err := ParseBlock(0, bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if Identity("", []byte("x")) == Identity("", []byte("y")) || Identity("a", nil) == Identity("", []byte("a")) {
		t.Error("identities collide")
	}
}

func TestStepOfMoves(t *testing.T) {
	for _, o := range settle.Outcomes() {
		p := settle.Decide(o, settle.Holds{}, settle.DefaultPolicy())
		step, ok := StepOf(p.Move)
		want := map[settle.Outcome]Step{settle.Landed: Land, settle.FlightFault: Reject, settle.GateFault: Park}
		if w, ends := want[o]; ends != ok || ok && step != w {
			t.Errorf("%v: %v %v", o, step, ok)
		}
	}
}
