package governor_test

import (
	"errors"
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

// A mistyped name is no empty list; an airport that was removed still is one.
func TestAListOfNothingKnownIsNotFound(t *testing.T) {
	onBoth(t, func(f *fleet) {
		g, stop := f.run(governor.Airport{ID: "crm:acme", Gates: []governor.Gate{{ID: "contacts", Pilot: newVendor()}}})
		f.ready(g, "crm:acme/contacts")
		lists := map[string]func(scope string) (int, error){
			"incidents": func(s string) (int, error) {
				l, err := g.Incidents(f.t.Context(), governor.IncidentFilter{Scope: s})
				return len(l), err
			},
			"charters": func(s string) (int, error) { l, err := g.Charters(f.t.Context(), s); return len(l), err },
			"suspects": func(s string) (int, error) { l, err := g.Suspects(f.t.Context(), s); return len(l), err },
		}
		check := func(scope string, want error) {
			for name, list := range lists {
				if name == "suspects" && scope != "crm:acme" && scope != "crm:nobody" {
					continue // they are an airport's
				}
				if n, err := list(scope); n != 0 || !errors.Is(err, want) {
					f.t.Errorf("%s of %s: %d, %v; want %v", name, scope, n, err, want)
				}
			}
		}
		check("crm:acme", nil)
		check("crm:acme/contacts", nil)
		check("crm:acme/nobody", governor.ErrNotFound)
		check("crm:nobody", governor.ErrNotFound)
		stop()
		g = f.governor()
		for _, scope := range []string{"crm:acme/contacts", "crm:acme"} {
			if _, err := f.remove(g, scope, governor.RemoveOptions{}); err != nil {
				f.t.Fatal(err)
			}
		}
		check("crm:acme", nil)
		if l, err := g.Audit(f.t.Context(), governor.AuditFilter{Scope: "crm:acme"}); err != nil || len(l) == 0 {
			f.t.Errorf("the audit of what was removed: %d, %v", len(l), err)
		}
		if _, err := g.Audit(f.t.Context(), governor.AuditFilter{Scope: "crm:nobody"}); !errors.Is(err, governor.ErrNotFound) {
			f.t.Errorf("the audit of nobody: %v", err)
		}
	})
}
