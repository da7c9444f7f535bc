package governor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

func TestAdoptionRefused(t *testing.T) {
	route := func(by, to, other string) *governor.Route {
		return &governor.Route{By: by, Gates: map[string]string{"a": to}, Default: other}
	}
	for name, c := range map[string]struct {
		adopt governor.Adoption
		want  string
	}{
		"no queue":         {governor.Adoption{}, "Adopt.Queue: is required"},
		"long name":        {governor.Adoption{Queue: strings.Repeat("q", 256)}, "Adopt.Queue"},
		"pointer":          {governor.Adoption{Queue: "q", BusinessID: "id"}, "Adopt.BusinessID"},
		"route by nothing": {governor.Adoption{Queue: "q", Route: route("", "events", "")}, "Adopt.Route.By: is required"},
		"route by no path": {governor.Adoption{Queue: "q", Route: route("type", "events", "")}, "Adopt.Route.By"},
		"route to nothing": {governor.Adoption{Queue: "q", Route: &governor.Route{By: "/t"}}, "Adopt.Route.Gates: is required"},
		"no such gate":     {governor.Adoption{Queue: "q", Route: route("/t", "nowhere", "")}, `gate "nowhere"`},
		"no such default":  {governor.Adoption{Queue: "q", Route: route("/t", "events", "nowhere")}, `gate "nowhere"`},
	} {
		a := governor.Airport{ID: "bank:acme", Gates: []governor.Gate{{ID: "events", Pilot: newVendor(), Adopt: &c.adopt}}}
		if err := a.Validate(); !errors.Is(err, governor.ErrSpec) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// An installation's own queues would go in a circle, and two intakes on one queue
// would each get half.
func TestAdoptedTwiceOrOurs(t *testing.T) {
	onBoth(t, func(f *fleet) {
		g := f.governor()
		gate := func(queue string) []governor.Gate {
			return []governor.Gate{{ID: "events", Pilot: newVendor(), Adopt: &governor.Adoption{Queue: queue}}}
		}
		ns := f.cfg.Namespace
		if ns == "" {
			ns = "tr"
		}
		for what, airports := range map[string][]governor.Airport{
			"belongs to namespace": {{ID: "a", Gates: gate(ns + ".a/events.runway")}},
			"adopted by airport a": {{ID: "a", Gates: gate("q")}, {ID: "b", Gates: gate("q")}},
		} {
			if err := g.Run(t.Context(), airports...); !errors.Is(err, governor.ErrSpec) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
