package form_test

import (
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/pkg/governor"
)

func TestPaceInWords(t *testing.T) {
	now := time.Date(2026, 3, 4, 2, 25, 9, 0, time.UTC)
	ten := governor.Pace{PerSecond: 1.4, Over: 10 * time.Minute}
	gate := governor.GateInfo{WorkersActual: 4, Batch: 1, Call: 9 * time.Second, Ceiling: governor.Ceiling{By: governor.ByWorkers, PerSecond: 4.0 / 9}}
	batch := gate
	batch.Batch, batch.Call, batch.Ceiling.PerSecond = 25, 12345*time.Millisecond, 8.1
	quick := gate
	quick.Call = 1234 * time.Microsecond
	slots := governor.GateInfo{Ceiling: governor.Ceiling{By: governor.BySlots, PerSecond: 20, Slots: 20, Window: time.Second}}
	for _, c := range []struct{ got, want string }{
		{form.PerSecond(0), "0/s"},
		{form.PerSecond(0.01), "36.0/h"},
		{form.PerSecond(4.0 / 9), "0.44/s"},
		{form.PerSecond(12.34), "12.3/s"},
		{form.PerSecond(12345.6), "12,346/s"},
		{form.DrainOf(12*time.Minute, ten), "about 12m (1.4/s over the last 10m)"},
		{form.DrainOf(0, ten), ""},
		{form.DrainOf(governor.Unknown, governor.Pace{}), "unknown until more of it has flown"},
		{form.DrainOf(governor.Unknown, governor.Pace{Over: 15 * time.Minute}), "unknown: nothing has left the runway for 15m"},
		{form.DrainOf(governor.Unknown, ten), "unknown (1.4/s over the last 10m)"},
		{form.CeilingOf(gate), "4 workers x 9s a call: 0.44/s; more workers help until the vendor slows"},
		{form.CeilingOf(batch), "4 workers x 25 flights x 12s a call: 8.1/s; more workers help until the vendor slows"},
		{form.CeilingOf(quick), "4 workers x 1ms a call: 0.44/s; more workers help until the vendor slows"},
		{form.CeilingOf(slots), "slots 20/1s are the ceiling: 20.0/s, for all gates of the airport together"},
		{form.CeilingOf(governor.GateInfo{Ceiling: governor.Ceiling{By: governor.ByThrottle, Until: now}}), "throttled until 2026-03-04 02:25:09Z: the vendor asked for that"},
		{form.CeilingOf(governor.GateInfo{}), ""},
		{form.MarksOf(governor.GateInfo{}), ""},
		{form.MarksOf(governor.GateInfo{Fresh: 3, Scars: 1812}), "3 fresh: this fleet returned, held or failed them; 1,812 old scars: marked before it saw them, and a mark stays for ever"},
		{form.AgeOf(now, now.Add(-3*time.Hour), 2), "3h"},
		{form.AgeOf(now, time.Time{}, 2), "unknown"},
		{form.AgeOf(now, now, 0), ""},
		{form.AdoptedOf(governor.GateInfo{}, now), ""},
		{form.AdoptedOf(governor.GateInfo{Adopts: "q\x1b", Adopted: 3000, AdoptedOldest: now.Add(-time.Minute)}, now), `3,000 wait in q\x1b, the age of the first is 1m`},
		{form.AdoptedOf(governor.GateInfo{Adopts: "q", Adopted: governor.Unread}, now), "? wait in q, the age of the first is unknown"},
		{form.AdoptedOf(governor.GateInfo{Adopts: "q"}, now), "0 wait in q"},
	} {
		if c.got != c.want {
			t.Errorf("got  %q\nwant %q", c.got, c.want)
		}
	}
}
