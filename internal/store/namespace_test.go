package store_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/traction-go/traction/internal/store"
)

func TestANamespaceIsRemovedAndNoOther(t *testing.T) {
	on(t, func(t *testing.T, s *store.Store) {
		for _, id := range []string{"crm:acme", "mail:acme"} {
			if err := s.AddAirport(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		newLane(t, s, "w1")
		n, err := s.CountKeys(t.Context())
		if err != nil || n < 2 {
			t.Fatalf("counted %d keys (%v), want the list of airports and a beat at least", n, err)
		}
		if removed, err := s.RemoveKeys(t.Context()); err != nil || removed != n {
			t.Errorf("removed %d of %d keys: %v", removed, n, err)
		}
		if n, err := s.CountKeys(t.Context()); err != nil || n != 0 {
			t.Errorf("%d keys are left: %v", n, err)
		}
	})
}

func TestANamespaceThatBeginsLikeAnotherIsLeftAlone(t *testing.T) {
	url := "redis://" + miniredis.RunT(t).Addr()
	open(t, store.Config{URLs: []string{url}, Namespace: "tr-two"}, func(t *testing.T, longer *store.Store) {
		if err := longer.AddAirport(t.Context(), "crm:acme"); err != nil {
			t.Fatal(err)
		}
		open(t, store.Config{URLs: []string{url}, Namespace: "tr"}, func(t *testing.T, s *store.Store) {
			if n, err := s.RemoveKeys(t.Context()); err != nil || n != 0 {
				t.Errorf("removed %d keys of another namespace: %v", n, err)
			}
		})
	})
}
