package rehearse

import (
	"slices"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/jsonptr"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func TestHoldsAreShortenedInTheirOrder(t *testing.T) {
	s, m := time.Second, time.Minute
	for _, c := range []struct{ in, want settle.Policy }{
		{settle.DefaultPolicy(), settle.Policy{Transient: []time.Duration{200e6, 400e6, 600e6}, Internal: []time.Duration{200e6}}},
		{settle.Policy{Transient: []time.Duration{m, s, m}, Internal: []time.Duration{10 * m}}, settle.Policy{Transient: []time.Duration{400e6, 200e6, 400e6}, Internal: []time.Duration{600e6}}},
		{settle.Policy{Transient: []time.Duration{5e6, s}}, settle.Policy{Transient: []time.Duration{5e6, 400e6}}},
	} {
		scaled := map[time.Duration]time.Duration{}
		got := scaleHolds(c.in, scaled)
		if !slices.Equal(got.Transient, c.want.Transient) || !slices.Equal(got.Internal, c.want.Internal) {
			t.Errorf("%v: got %v, want %v", c.in, got, c.want)
		}
		for _, d := range c.in.Transient {
			if scaled[d] == 0 || scaled[d] > d {
				t.Errorf("%v is noted as %v", d, scaled[d])
			}
		}
	}
	var long settle.Policy
	for i := range 100 {
		long.Transient = append(long.Transient, time.Duration(i+1)*m)
	}
	total := time.Duration(0)
	for _, d := range scaleHolds(long, map[time.Duration]time.Duration{}).Transient {
		if total += d; d < time.Millisecond || d%time.Millisecond != 0 {
			t.Errorf("%v is no hold", d)
		}
	}
	if total > 2*holdTotal {
		t.Errorf("a hundred holds take %v", total)
	}
}

func TestSlotsNeverMakeItWait(t *testing.T) {
	for in, want := range map[governor.Slots]governor.Slots{
		{}:                             {},
		{N: 20, Per: time.Second}:      {N: 20, Per: 40 * time.Millisecond},
		{N: 1, Per: time.Hour}:         {N: 1, Per: 2 * time.Millisecond},
		{N: 5000, Per: time.Second}:    {N: 5000, Per: time.Second},
		{N: 1_000_000, Per: time.Hour}: {N: 1_000_000, Per: 2000 * time.Second},
	} {
		if got := scaleSlots(in); got != want {
			t.Errorf("%v: got %v, want %v", in, got, want)
		}
	}
}

// The exact airports are the configuration's in everything that is declared; the
// rehearsed ones are other only where the notes say so.
func TestThePlanKeepsWhatIsDeclared(t *testing.T) {
	airports := sample(t)
	p := newPlan("rehearse-1", airports, newBook(), 20)
	for i, a := range p.exact {
		if a.Mode != airports[i].Mode || a.Slots != airports[i].Slots || a.Streaks != airports[i].Streaks {
			t.Errorf("%+v", a)
		}
	}
	if got := airports[1].Gates[0].Adopt.Queue; got != "incoming" {
		t.Errorf("the configuration itself was changed: it adopts %s", got)
	}
	r := p.rehearsed[1]
	if r.Mode != governor.Enforce || r.Streaks.AirportFault != 2 || r.Streaks.GateFault != 1 || r.Gates[0].Adopt.Queue != "rehearse-1-adopted.incoming" {
		t.Errorf("%+v", r)
	}
	for _, all := range [][]governor.Airport{p.exact, p.rehearsed} {
		for _, a := range all {
			if err := a.Validate(); err != nil {
				t.Error(err)
			}
			if a.Gates[1].OnStop != settle.StayOnStop {
				t.Errorf("%s: on_stop was changed", a.ID)
			}
			for _, g := range a.Gates {
				if _, own := g.Pilot.(*book); !own && g.Pilot != nil {
					t.Errorf("%s/%s flies %T", a.ID, g.ID, g.Pilot)
				}
				if g.Batch == nil {
					continue
				}
				if _, own := g.Batch.Pilot.(*book); !own {
					t.Errorf("%s/%s flies batches by %T", a.ID, g.ID, g.Batch.Pilot)
				}
			}
		}
	}
	if exact, short := p.exact[1].Gates[2].Batch, r.Gates[2].Batch; exact.Linger != time.Minute || short.Linger != longestLinger || short.Size != 5 {
		t.Errorf("%+v, rehearsed as %+v", exact, short)
	}
	if p := newPlan("rehearse-1", airports, newBook(), 1); p.rehearsed[1].Streaks.AirportFault != 1 {
		t.Error("a threshold that the flights of a step do not reach")
	}
}

func TestMessagesGoWhereTheRouteSays(t *testing.T) {
	for name, c := range map[string]struct {
		by, id   string
		business bool
	}{
		"apart":                 {"/type", "/payment/id", true},
		"in one object":         {"/event/type", "/event/id", true},
		"the same":              {"/id", "/id", true},
		"one in the other":      {"/a", "/a/b", false},
		"the rehearsal's own":   {"/traction-rehearsal", "/traction-rehearsal-", true},
		"escaped":               {"/a~1b", "/c~0d/0", true},
		"without a business id": {"/type", "", false},
	} {
		s := standIn{Airport: "a", Gate: "a/own", Spec: governor.Adoption{BusinessID: c.id,
			Route: &governor.Route{By: c.by, Gates: map[string]string{"settled": "events", "7": "numbers"}, Default: "other"}}}
		for _, v := range s.values() {
			m := s.messageFor("m-1", v)
			want := map[string]string{"settled": "a/events", "7": "a/numbers"}[v]
			if want == "" {
				want = "a/other"
			}
			if m.gate != want {
				t.Errorf("%s: %q goes to %s, want %s: %s", name, v, m.gate, want, m.body)
			}
			doc, ok := jsonptr.Decode(m.body)
			if !ok || (m.business != "") != c.business {
				t.Errorf("%s: %s, business id %q", name, m.body, m.business)
			}
			if p, err := jsonptr.Parse(c.by); err == nil {
				if got, _ := p.Text(doc); got != v {
					t.Errorf("%s: the route sees %q, want %q: %s", name, got, v, m.body)
				}
			}
		}
		if got := s.raw("m-1").gate; got != "a/other" {
			t.Errorf("%s: what is not JSON goes to %s", name, got)
		}
		if got := s.gates(); !slices.Equal(got, []string{"a/events", "a/numbers", "a/other"}) {
			t.Errorf("%s: it feeds %v", name, got)
		}
	}
	plain := standIn{Airport: "a", Gate: "a/own"}
	if m := plain.messageFor("m", plain.values()[0]); m.gate != "a/own" || !slices.Equal(plain.gates(), []string{"a/own"}) {
		t.Errorf("%+v feeds %v", m, plain.gates())
	}
	if (standIn{Airport: "a", Gate: "a/own", Spec: governor.Adoption{Route: &governor.Route{Gates: map[string]string{"x": "y"}}}}).fed("z") != "a/own" {
		t.Error("without a default the gate that adopts is it")
	}
}
