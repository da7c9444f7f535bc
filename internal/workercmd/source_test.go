package workercmd

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/health"
	"github.com/traction-go/traction/pkg/governor"
)

type fakeStats struct {
	stats governor.Stats
	infos []governor.AirportInfo
}

func (f fakeStats) Stats() governor.Stats                                    { return f.stats }
func (f fakeStats) Airports(context.Context) ([]governor.AirportInfo, error) { return f.infos, nil }

func TestSourceTellsOfTheServedAirportsAlone(t *testing.T) {
	declared := []governor.Airport{{ID: "crm:acme", Gates: []governor.Gate{{ID: "c", Workers: 6, Adopt: &governor.Adoption{Queue: "q"}}, {ID: "d"}, {ID: "e"}}}}
	s := source{fakeStats{
		governor.Stats{
			Gates: map[string]governor.GateStats{
				"crm:acme/c": {Settled: map[string]int64{"landed": 5, "hold": 1, "park": 2, "defer": 3}, InHand: 4, Returned: 7, Skipped: 8, Declared: true,
					Workers: 6, Fresh: 3, Scars: 9, Moved: 11, Call: time.Second},
				"other/x": {Settled: map[string]int64{"landed": 9}},
			},
			Broker:    true,
			States:    map[string]governor.State{"crm:acme": "OPEN", "crm:acme/c": "STOPPED", "crm:acme/e": "OPEN"},
			Reachable: map[string]bool{"crm:acme": true, "other": false},
			Unsent:    map[string]int{"crm:acme": 2},
			Clearance: governor.Latency{Bounds: []time.Duration{time.Second}, Counts: []int64{3, 1}, Sum: time.Minute},
		},
		[]governor.AirportInfo{{Airport: "other"}, {Airport: "crm:acme", Slots: 20, SlotsUsed: 3, Deaths: 1, Gates: []governor.GateInfo{
			{Gate: "crm:acme/c", Runway: 10, Holding: 11, Parked: 12, Rejected: governor.Unread, Landed: 5, Acked: 6, Adopts: "q", Adopted: 7, Drain: time.Minute}, {Gate: "crm:acme/gone", Runway: 99},
		}}},
	}, declared}

	local := s.Local()
	same(t, local, health.Local{
		Broker: true, Store: true,
		Clearance: health.Histogram{Bounds: []time.Duration{time.Second}, Counts: []uint64{3, 1}, Sum: time.Minute},
		Airports: []health.Airport{{ID: "crm:acme", State: "OPEN", Unsent: 2, Gates: []health.Gate{
			{ID: "c", State: "STOPPED", Workers: 6, InHand: 4, InAir: -1, Flights: map[string]uint64{
				"landed": 5, "rejected": 0, "skipped": 0, "held": 1, "parked": 2, "deferred": 3, "returned": 7, "already_landed": 8,
			}, Fresh: 3, Scars: 9, Adopts: true, Moved: 11, Call: time.Second},
			{ID: "d", Workers: 4, InAir: -1, Flights: map[string]uint64{
				"landed": 0, "rejected": 0, "skipped": 0, "held": 0, "parked": 0, "deferred": 0, "returned": 0, "already_landed": 0,
			}},
			// Its queues are still to be declared: it is not open yet.
			{ID: "e", State: "BIRTH", Workers: 4, InAir: -1, Flights: map[string]uint64{
				"landed": 0, "rejected": 0, "skipped": 0, "held": 0, "parked": 0, "deferred": 0, "returned": 0, "already_landed": 0,
			}},
		}}},
	})
	fleet, err := s.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, fleet, []health.Fleet{{ID: "crm:acme", Slots: 20, SlotsUsed: 3, Deaths: 1, Gates: []health.FleetGate{
		{ID: "c", Runway: 10, Holding: 11, Parked: 12, Rejected: -1, ParkedOldest: -1, Landed: 5, Acked: 6, Adopted: 7, Oldest: -1, AdoptedOldest: -1, Drain: time.Minute},
	}}})

	blocked := s.gov.(fakeStats)
	blocked.stats.Blocked = true
	if (source{blocked, declared}).Local().Broker {
		t.Error("a broker that blocks publishers counts as reachable")
	}

	// Not heard of yet is not reachable.
	s.gov = fakeStats{}
	if s.Local().Store {
		t.Error("a store that has not answered counts as reachable")
	}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	g, _ := json.MarshalIndent(got, "", " ")
	w, _ := json.MarshalIndent(want, "", " ")
	if string(g) != string(w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}
