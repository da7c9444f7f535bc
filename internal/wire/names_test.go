package wire_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/traction-go/traction/internal/wire"
)

func TestShortDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", -time.Second: "0s", time.Microsecond: "0s", 200 * time.Millisecond: "200ms", 30 * time.Second: "30s",
		2 * time.Minute: "2m", 10 * time.Minute: "10m", 90 * time.Minute: "1h30m", 36 * time.Hour: "1d12h",
		7 * 24 * time.Hour: "7d", time.Minute + 1500*time.Millisecond: "1m1s500ms",
	} {
		if got := wire.ShortDuration(d); got != want {
			t.Errorf("ShortDuration(%v) = %s, want %s", d, got, want)
		}
	}
}

// Delays that differ by a millisecond or more have queues of their own: one queue
// has one TTL.
func TestShortDurationTellsApart(t *testing.T) {
	ms := rapid.Int64Range(1, 1<<40)
	rapid.Check(t, func(t *rapid.T) {
		a := time.Duration(ms.Draw(t, "a")) * time.Millisecond
		b := time.Duration(ms.Draw(t, "b")) * time.Millisecond
		if (a == b) != (wire.ShortDuration(a) == wire.ShortDuration(b)) {
			t.Fatalf("%v is %s, %v is %s", a, wire.ShortDuration(a), b, wire.ShortDuration(b))
		}
	})
}

// part draws a sound part of a scope, with the words that names are made of.
var part = rapid.OneOf(
	rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._:-]{0,63}`),
	rapid.SampledFrom([]string{"runway", "parked", "rejected", "born", "limit", "hold.30s", "a.runway", "a.rejected.7d", "airport", "gate", "a:gate", "gate:record", "streak", "slots"}),
)

// No two things share a name, whatever airports and gates are called, and every
// name fits into what AMQP gives it.
func TestNamesNeverCollide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, err := wire.ParseNamespace(rapid.StringMatching(`[b-z0-9-]{1,32}`).Draw(t, "namespace"))
		if err != nil {
			t.Fatal(err)
		}
		queues, exchanges, keys := map[string]string{}, map[string]string{}, map[string]string{}
		add := func(set map[string]string, name, owner string) {
			if had, ok := set[name]; ok && had != owner {
				t.Fatalf("%q names %s and %s", name, had, owner)
			}
			set[name] = owner
			if len(name) > 255 {
				t.Fatalf("%d bytes: %s", len(name), name)
			}
		}
		delay := 30 * time.Second
		for _, q := range []string{n.LimitQueue(), n.UnroutableQueue(), n.TowerQueue(), n.UnreadableQueue(), n.Hold(delay)} {
			add(queues, q, "global "+q)
		}
		for _, x := range []string{n.RunwayExchange(), n.ReturnExchange(), n.ParkedExchange(), n.RejectedExchange(), n.ReportsExchange(), n.LimitExchange(), n.UnroutableExchange(), n.Hold(delay)} {
			add(exchanges, x, "global "+x)
		}
		for range 2 {
			a, g, run := part.Draw(t, "airport"), part.Draw(t, "gate"), part.Draw(t, "run")
			s := wire.Scope{Airport: a, Gate: g}
			add(queues, n.Runway(s), "runway of "+s.String())
			add(queues, n.Parked(s), "parked of "+s.String())
			add(queues, n.Rejected(s, wire.DefaultRejectedKeep), "rejected of "+s.String())
			add(exchanges, n.BornExchange(s), "marker of "+s.String())
			add(exchanges, n.BornExchange(s.Parent()), "marker of "+a)
			if len(wire.ReportKey("AIRPORT_FAULT", s)) > 255 {
				t.Fatal("a routing key over 255 bytes")
			}
			k := n.Keys(a)
			for _, kind := range []string{wire.StreakGate, wire.StreakRecord, wire.StreakTransient} {
				add(keys, k.Streak(g, kind), "streak "+kind+" of "+s.String())
			}
			add(keys, k.Gate(g), "status of "+s.String())
			add(keys, k.Holding(g), "holding of "+s.String())
			add(keys, k.Lock(g), "lock of "+s.String())
			add(keys, k.Look(g, "parked"), "look at what is parked at "+s.String())
			add(keys, k.Look(g, "rejected"), "look at what is rejected at "+s.String())
			add(keys, k.Charter(g, run), "charter of "+s.String()+"/"+run)
			add(keys, k.Seats(g, run), "seats of "+s.String()+"/"+run)
			for _, one := range []string{k.Airport(), k.Tick(), k.Slots(), k.Flying(), k.Beats(), k.Deaths(), k.Solo(), k.Incidents(), k.IncidentOrder(), k.Audit(), k.Outbox(), k.Offers(), k.Replies(), k.AirportStreak()} {
				add(keys, one, "airport "+a+": "+one)
			}
		}
		for key := range keys {
			if !strings.HasPrefix(key, string(n)+":{") || strings.Count(key, "{") != 1 || strings.Count(key, "}") != 1 {
				t.Fatalf("no hash tag in %s", key)
			}
		}
	})
}

// Forward twice is Forward once: a flight is republished many times.
func TestForwardTwice(t *testing.T) {
	m := fullFlight().Msg
	once := m.Forward()
	if twice := once.Forward(); !reflect.DeepEqual(once, twice) {
		t.Errorf("once  %+v\ntwice %+v", once, twice)
	}
	if _, ok := m.Headers["x-death"]; !ok {
		t.Error("the original was changed")
	}
	if empty := (wire.Message{}).Forward(); empty.Headers == nil || len(empty.Headers) != 0 {
		t.Errorf("no headers become %v", empty.Headers)
	}
}
