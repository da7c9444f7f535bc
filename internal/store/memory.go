package store

import (
	"encoding/json"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// fields are the fields of a status in the order in which scripts reply them; a
// test holds them to lib.lua.
var fields = []string{"state", "epoch", "fence", "paused", "lost", "held", "covered", "lost_at", "incident", "reason",
	"evidence", "since", "by", "throttled_until", "throttled_since", "delay_start", "delay_n", "delay_probe",
	"delay_id", "delay_told", "canary_n", "canary_landed", "obs_incident", "birth_by", "birth_at",
	"paused_by", "paused_at", "paused_reason", "slots_n", "slots_per", "slots_stamp", "delay_since", "scale"}

// statusOf makes a status of named fields. A missing state is wire.Unknown.
func statusOf(scope wire.Scope, v map[string]string) wire.Status {
	n := func(f string) int64 { x, _ := strconv.ParseInt(v[f], 10, 64); return x }
	t := func(f string) time.Time {
		if x := n(f); x > 0 {
			return time.UnixMilli(x).UTC()
		}
		return time.Time{}
	}
	s := wire.Status{
		Scope: scope, State: wire.State(v["state"]), Epoch: n("epoch"), Fence: n("fence"),
		Paused: v["paused"] == "1", PausedBy: v["paused_by"], PausedAt: t("paused_at"),
		Lost: v["lost"] == "1", Held: v["held"] == "1", Covered: v["covered"] == "1", LostAt: t("lost_at"),
		Reason: v["reason"], Evidence: v["evidence"], Incident: v["incident"], Since: t("since"), By: v["by"],
		ThrottledUntil: t("throttled_until"), ThrottledSince: t("throttled_since"),
		Delayed: n("delay_start") > 0, DelaySince: t("delay_since"), DelayProbeAt: t("delay_probe"), DelayID: v["delay_id"],
		CanaryN: int(n("canary_n")), CanaryLanded: int(n("canary_landed")), Observing: v["obs_incident"],
		SlotsN: int(n("slots_n")), SlotsPer: time.Duration(n("slots_per")) * time.Millisecond, SlotsStamp: n("slots_stamp"),
		Mode: v["mode"], OnStop: v["on_stop"], Workers: int(n("workers")), Batch: int(n("batch")), Scale: wire.Scale(v["scale"]), ScaledBy: v["scaled_by"], ScaledAt: t("scaled_at"), Adopts: v["adopt"], SlotEach: v["slot_each"] == "1",
		Landed: n("landed"), Rejected: n("rejected"), Parked: n("parked"), Acked: n("acked"),
	}
	if s.Paused && s.State != wire.Stopped {
		s.Reason, s.By = v["paused_reason"], s.PausedBy
		s.Since = s.PausedAt
	}
	if s.State == "" {
		s.State = wire.Unknown
	}
	return s
}

// view is what an offer tells of one scope, in the words of the scripts.
type view struct {
	State        string `json:"state"`
	Epoch        int64  `json:"epoch"`
	Fence        int64  `json:"fence"`
	Paused       string `json:"paused"`
	PausedBy     string `json:"paused_by"`
	PausedAt     int64  `json:"paused_at"`
	PausedReason string `json:"paused_reason"`
	Lost         string `json:"lost"`
	Held         string `json:"held"`
	Incident     string `json:"incident"`
	Reason       string `json:"reason"`
	Evidence     string `json:"evidence"`
	Since        int64  `json:"since"`
	By           string `json:"by"`
	CanaryN      int64  `json:"canary_n"`
	CanaryLanded int64  `json:"canary_landed"`
	Scale        string `json:"scale,omitempty"`
}

func viewOf(v map[string]string) view {
	n := func(f string) int64 { x, _ := strconv.ParseInt(v[f], 10, 64); return x }
	return view{State: v["state"], Epoch: n("epoch"), Fence: n("fence"), Paused: v["paused"], PausedBy: v["paused_by"],
		PausedAt: n("paused_at"), PausedReason: v["paused_reason"], Lost: v["lost"], Held: v["held"], Incident: v["incident"],
		Reason: v["reason"], Evidence: v["evidence"], Since: n("since"), By: v["by"],
		CanaryN: n("canary_n"), CanaryLanded: n("canary_landed"), Scale: v["scale"]}
}

// memory is what one process has seen of one airport.
type memory struct {
	mu    sync.Mutex
	tick  int64
	epoch map[string]int64 // by scope; "" for the airport
	fence map[string]int64
	views map[string]view // the last status worth remembering
	last  map[string]wire.Status
	reply map[string][]any // the last one, as it came
}

func newMemory() *memory {
	return &memory{epoch: map[string]int64{}, fence: map[string]int64{}, views: map[string]view{}, last: map[string]wire.Status{}, reply: map[string][]any{}}
}

// repeats reports whether a status came word for word as the time before. To see it
// again would change nothing, and most beats bring nothing else.
func (m *memory) repeats(gate string, reply []any) bool {
	was := m.reply[gate]
	same := len(was) == len(reply) && len(reply) > 0
	for i := 0; same && i < len(reply); i++ {
		a, ok := was[i].(string)
		b, also := reply[i].(string)
		same = ok && also && a == b
	}
	if !same {
		m.reply[gate] = reply
	}
	return same
}

// see takes in a status from a reply and reports whether it is news.
func (m *memory) see(gate string, st wire.Status, v map[string]string) bool {
	if st.State == wire.Unknown || st.State == wire.Birth || st.State == wire.Removing {
		was, ok := m.last[gate]
		m.last[gate] = st
		return !ok || was.State != st.State
	}
	if st.Epoch < m.epoch[gate] {
		return false
	}
	was, ok := m.last[gate]
	news := !ok || was.Epoch != st.Epoch || was.State != st.State || was.Paused != st.Paused || was.Delayed != st.Delayed ||
		!was.ThrottledUntil.Equal(st.ThrottledUntil) || !was.DelayProbeAt.Equal(st.DelayProbeAt)
	m.last[gate] = st
	m.epoch[gate] = st.Epoch
	m.fence[gate] = max(m.fence[gate], st.Fence)
	if st.Lost && !st.Held {
		// The memory from before the loss is what is offered; a pause is added to
		// it, since a pause stays whatever is restored.
		if old, ok := m.views[gate]; ok && st.Paused {
			old.Paused, old.PausedBy, old.PausedAt, old.PausedReason = "1", v["paused_by"], viewOf(v).PausedAt, v["paused_reason"]
			m.views[gate] = old
		} else if !ok && st.Paused {
			m.views[gate] = viewOf(v)
		}
		return news
	}
	m.views[gate] = viewOf(v)
	return news
}

// offer writes the memory as the offer script takes it.
func (m *memory) offer(airport string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := func(gate string) string {
		return wire.Scope{Airport: airport, Gate: gate}.String()
	}
	o := struct {
		Views map[string]view  `json:"views,omitempty"`
		Seen  map[string]int64 `json:"seen,omitempty"`
	}{map[string]view{}, map[string]int64{}}
	for g, v := range maps.All(m.views) {
		o.Views[name(g)] = v
	}
	for g, e := range maps.All(m.epoch) {
		o.Seen[name(g)] = e
	}
	b, err := json.Marshal(o)
	if err != nil {
		// Strings and integers always marshal.
		return "{}"
	}
	return string(b)
}
