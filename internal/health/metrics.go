package health

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/traction-go/traction/internal/wire"
)

// fleetEvery is how long what was read of the fleet is told again.
const fleetEvery = 10 * time.Second

// fleetWait bounds reading it: a scrape must not hang on a service.
const fleetWait = 3 * time.Second

// states are the words of the state label.
var states = []wire.State{wire.Stopped, wire.Paused, wire.Canary, wire.Throttled, wire.Delayed, wire.Open, wire.Unknown}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("traction_"+name, help, labels, nil)
}

var (
	descBuild     = desc("build_info", "1, with the version of this process.", "version")
	descBroker    = desc("broker_up", "1 while the broker was reachable when last tried and took what was published.")
	descStore     = desc("store_up", "1 while the store was reachable when last tried.")
	descAirport   = desc("airport_state", "1 for the state the airport is in, 0 for the others.", "airport", "state")
	descGate      = desc("gate_state", "1 for the state the gate is in, 0 for the others.", "airport", "gate", "state")
	descFlights   = desc("flights_total", "Flights that left this process, by how they were settled.", "airport", "gate", "settlement")
	descInHand    = desc("flights_in_hand", "Flights delivered to this process and not settled yet.", "airport", "gate")
	descInAir     = desc("flights_in_air", "Flights in the air in this process.", "airport", "gate")
	descWorkers   = desc("workers", "Flights that may be in the air at once in this process.", "airport", "gate")
	descLeaked    = desc("leaked_pilots", "Pilots of this process that ignored the end of their call and have not returned.", "airport", "gate")
	descClearance = desc("clearance_seconds", "Time from asking for a clearance to its answer.")
	descSlots     = desc("slots", "Slots in a window of the airport's shared rate limit.", "airport")
	descSlotsUsed = desc("slots_used", "Slots used in the window that ends now, by the whole fleet.", "airport")
	descUnsent    = desc("notifications_unsent", "Notifications that no hook has taken yet.", "airport")
	descDeaths    = desc("worker_deaths_hour", "Workers that died with flights in the air in the last hour.", "airport")
	descRunway    = desc("runway_flights", "Flights waiting on the runway.", "airport", "gate")
	descHolding   = desc("holding_flights", "Flights on hold.", "airport", "gate")
	descParked    = desc("parked_flights", "Flights parked for a human.", "airport", "gate")
	descOldest    = desc("parked_oldest_seconds", "Age of the flight that has been parked longest.", "airport", "gate")
	descMarked    = desc("redelivered_total", "Messages that came to this process marked as redelivered: fresh ones the fleet itself had returned, held or failed; scars were marked before this process saw them, and stay marked for ever.", "airport", "gate", "mark")
	descMoved     = desc("adopted_total", "Messages of the adopted queue that this process made flights of.", "airport", "gate")
	descCall      = desc("call_seconds", "How long a call takes in this process, smoothed.", "airport", "gate")
	descLanded    = desc("fleet_landed_total", "Flights that landed, by the whole fleet, since the store counts.", "airport", "gate")
	descAcked     = desc("fleet_acked_total", "Flights that left the runway, for good or to come back, by the whole fleet, since the store counts.", "airport", "gate")
	descAdopted   = desc("adopted_messages", "Messages waiting in the adopted queue.", "airport", "gate")
	descWaiting   = desc("runway_oldest_seconds", "Age of the oldest flight that waits on the runway, by its timestamp.", "airport", "gate")
	descHead      = desc("adopted_oldest_seconds", "Age of the head of the adopted queue, by the timestamp of what was last taken from it.", "airport", "gate")
	descDrain     = desc("drain_seconds", "Until what waits is done, at the pace of the last minutes.", "airport", "gate")
	descRejected  = desc("rejected_records", "Rejected records that are kept.", "airport", "gate")
)

// collector asks a source at each scrape.
type collector struct {
	source  Source
	version string
	log     *slog.Logger
	now     func() time.Time

	mu    sync.Mutex // held while the fleet is read: scrapes wait for one reading
	fleet []Fleet
	at    time.Time
}

// Describe sends nothing: which series there are is the configuration's matter.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

func (c *collector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	read := func(d *prometheus.Desc, n int, labels ...string) {
		if n >= 0 {
			gauge(d, float64(n), labels...)
		}
	}
	total := func(d *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	lasts := func(d *prometheus.Desc, t time.Duration, labels ...string) {
		if t >= 0 {
			gauge(d, t.Seconds(), labels...)
		}
	}
	gauge(descBuild, 1, c.version)
	local := c.source.Local()
	gauge(descBroker, flag(local.Broker))
	gauge(descStore, flag(local.Store))
	if h := local.Clearance; len(h.Bounds) > 0 && len(h.Counts) == len(h.Bounds)+1 {
		ch <- histogram(descClearance, h)
	}
	for _, a := range local.Airports {
		for _, s := range states {
			gauge(descAirport, flag(known(a.State) == s), a.ID, string(s))
		}
		read(descUnsent, a.Unsent, a.ID)
		for _, g := range a.Gates {
			for _, s := range states {
				gauge(descGate, flag(known(g.State) == s), a.ID, g.ID, string(s))
			}
			for _, s := range Settlements() {
				total(descFlights, g.Flights[s], a.ID, g.ID, s)
			}
			read(descInHand, g.InHand, a.ID, g.ID)
			read(descInAir, g.InAir, a.ID, g.ID)
			read(descWorkers, g.Workers, a.ID, g.ID)
			read(descLeaked, g.Leaked, a.ID, g.ID)
			total(descMarked, g.Fresh, a.ID, g.ID, "fresh")
			total(descMarked, g.Scars, a.ID, g.ID, "scar")
			if g.Adopts {
				total(descMoved, g.Moved, a.ID, g.ID)
			}
			if g.Call > 0 {
				gauge(descCall, g.Call.Seconds(), a.ID, g.ID)
			}
		}
	}
	for _, a := range c.read() {
		if a.Slots > 0 {
			read(descSlots, a.Slots, a.ID)
			read(descSlotsUsed, a.SlotsUsed, a.ID)
		}
		read(descDeaths, a.Deaths, a.ID)
		for _, g := range a.Gates {
			read(descRunway, g.Runway, a.ID, g.ID)
			read(descHolding, g.Holding, a.ID, g.ID)
			read(descParked, g.Parked, a.ID, g.ID)
			read(descRejected, g.Rejected, a.ID, g.ID)
			read(descAdopted, g.Adopted, a.ID, g.ID)
			total(descLanded, uint64(max(g.Landed, 0)), a.ID, g.ID)
			total(descAcked, uint64(max(g.Acked, 0)), a.ID, g.ID)
			lasts(descOldest, g.ParkedOldest, a.ID, g.ID)
			lasts(descWaiting, g.Oldest, a.ID, g.ID)
			lasts(descHead, g.AdoptedOldest, a.ID, g.ID)
			lasts(descDrain, g.Drain, a.ID, g.ID)
		}
	}
}

// read gives what stands of the fleet. While it cannot be read nothing is told of
// it: an old number would look like a fresh one.
func (c *collector) read() []Fleet {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.IsZero() && c.now().Sub(c.at) < fleetEvery {
		return c.fleet
	}
	ctx, cancel := context.WithTimeout(context.Background(), fleetWait)
	defer cancel()
	fleet, err := c.source.Fleet(ctx)
	if err != nil {
		c.log.Debug("metrics without the fleet's numbers", "error", err)
		fleet = nil
	}
	c.fleet, c.at = fleet, c.now()
	return c.fleet
}

// known keeps the state label to its words.
func known(state string) wire.State {
	for _, s := range states {
		if string(s) == state {
			return s
		}
	}
	return wire.Unknown
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

func histogram(d *prometheus.Desc, h Histogram, labels ...string) prometheus.Metric {
	buckets := map[float64]uint64{}
	total := uint64(0)
	for i, n := range h.Counts {
		total += n
		if i < len(h.Bounds) {
			buckets[h.Bounds[i].Seconds()] = total
		}
	}
	return prometheus.MustNewConstHistogram(d, total, h.Sum.Seconds(), buckets, labels...)
}
