package demo

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/pkg/governor"
)

func TestPoison(t *testing.T) {
	t.Parallel()
	store.Quiet()
	var said bytes.Buffer
	r, err := Play(t.Context(), "poison", Options{Flights: 60, Rate: 100, Narrator: &Narrator{W: &said}})
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if got, want := r.Line(), "poison: lost: 0 · processes killed: 2 · parked as POISON_PILL: 1 · notifications: 1"; got != want {
		t.Errorf("got  %s\nwant %s\n%s", got, want, said.String())
	}
	if !strings.Contains(said.String(), "dies, with 0 flights beside it") {
		t.Errorf("nobody died of it alone:\n%s", said.String())
	}
	// The figures of a line add up: who has landed or is parked does not wait.
	lines := regexp.MustCompile(`landed (\d+) of 60 · waiting (\d+), (\d+) of them on hold · parked (\d+)`).FindAllStringSubmatch(said.String(), -1)
	if len(lines) == 0 {
		t.Errorf("no progress was told:\n%s", said.String())
	}
	for _, l := range lines {
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(l[i+1])
		}
		if n[0] > 59 || n[0]+n[1]+n[3] > 60 || n[2] > n[1] {
			t.Errorf("does not add up: %s", l[0])
		}
	}
}

// What a dead process had in hand is counted once.
func TestPillsWaits(t *testing.T) {
	t.Parallel()
	p := &pills{act: newAct(&stage{Options: Options{Flights: 1000}}, "poison")}
	for _, c := range []struct {
		landed        int
		a             governor.AirportInfo
		waiting, held int
	}{
		{0, governor.AirportInfo{Runway: 1000}, 1000, 0},
		{627, governor.AirportInfo{Runway: 622, Holding: 10}, 373, 10},
		{999, governor.AirportInfo{Runway: 174}, 1, 0},
		{999, governor.AirportInfo{Holding: 1}, 1, 1},
		{999, governor.AirportInfo{Runway: 12, Holding: 3, Parked: 1}, 0, 0},
		{600, governor.AirportInfo{Runway: governor.Unread, Holding: 7, Parked: governor.Unread}, 400, 7},
	} {
		if w, h := p.waits(c.landed, c.a); w != c.waiting || h != c.held {
			t.Errorf("%d landed of %+v: %d wait, %d of them on hold; want %d, %d", c.landed, c.a, w, h, c.waiting, c.held)
		}
	}
}

// A vendor that refuses one contact for good is a contact that does not land.
func TestPoisonNoticesWhatDoesNotLand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for a pill's two deaths, and then in vain")
	}
	store.Quiet()
	s := sabotage{vendor: func(id string) int {
		if id == contactNumber(3).ID {
			return 422
		}
		return 0
	}, patience: 16 * time.Second}
	_, err := Play(t.Context(), "poison", Options{Flights: 20, Rate: 100, sabotage: s})
	if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "lost: 1, want 0") {
		t.Errorf("%v, want a difference: one contact was not written", err)
	}
}
