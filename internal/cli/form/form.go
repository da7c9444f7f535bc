// Package form is the JSON of the command line: field names are stable, snake
// case and only ever added to; lists are never null; times are UTC; durations
// are in seconds; a count that could not be read is null. Golden files hold it.
package form

import (
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Airport is what stands of an airport.
type Airport struct {
	Airport        wire.Text    `json:"airport"`
	State          wire.Text    `json:"state"`
	Reason         wire.Text    `json:"reason"`
	Evidence       wire.Text    `json:"evidence"`
	Since          render.Time  `json:"since"`
	By             wire.Text    `json:"by"`
	Incident       wire.Text    `json:"incident"`
	Mode           wire.Text    `json:"mode"`
	Slots          int          `json:"slots"` // 0: unlimited
	SlotsUsed      render.Count `json:"slots_used"`
	WindowS        float64      `json:"window_s"`
	ThrottledUntil render.Time  `json:"throttled_until"`
	Canary         int          `json:"canary"`
	CanaryLanded   int          `json:"canary_landed"`
	Runway         render.Count `json:"runway"`
	Holding        render.Count `json:"holding"`
	Parked         render.Count `json:"parked"`
	Rejected       render.Count `json:"rejected"`
	InAir          render.Count `json:"in_air"`
	Landed         int64        `json:"landed"`
	Acked          int64        `json:"acked"`
	Adopted        render.Count `json:"adopted"`
	PaceS          *float64     `json:"pace_s"` // flights that leave for good, a second; null: not known
	PaceOverS      float64      `json:"pace_over_s"`
	EtaS           *float64     `json:"eta_s"` // at that pace; null: not to be told
	Workers        render.Count `json:"workers"`
	Deaths         render.Count `json:"deaths"`
	Suspects       render.Count `json:"suspects"`
	Unsent         render.Count `json:"unsent"`
	DrainS         *float64     `json:"drain_s"` // at the full rate; null: unlimited
	Gates          []Gate       `json:"gates"`
}

// Gate is what stands of a gate.
type Gate struct {
	Gate          wire.Text    `json:"gate"`
	State         wire.Text    `json:"state"`
	Reason        wire.Text    `json:"reason"`
	Evidence      wire.Text    `json:"evidence"`
	Since         render.Time  `json:"since"`
	By            wire.Text    `json:"by"`
	Incident      wire.Text    `json:"incident"`
	ProbeAt       render.Time  `json:"probe_at"`
	Canary        int          `json:"canary"`
	CanaryLanded  int          `json:"canary_landed"`
	WorkersWanted render.Count `json:"workers_wanted"`
	WorkersActual render.Count `json:"workers_actual"`
	Declared      render.Count `json:"workers_declared"` // 0: not known
	Batch         int          `json:"batch"`
	Scaled        bool         `json:"scaled"`
	Processes     []Staff      `json:"processes"`
	OnStop        string       `json:"on_stop"`
	Runway        render.Count `json:"runway"`
	Holding       render.Count `json:"holding"`
	Parked        render.Count `json:"parked"`
	Rejected      render.Count `json:"rejected"`
	InAir         render.Count `json:"in_air"`
	Landed        int64        `json:"landed"`
	Acked         int64        `json:"acked"`
	PaceS         *float64     `json:"pace_s"` // flights that leave for good, a second; null: not known
	PaceOverS     float64      `json:"pace_over_s"`
	EtaS          *float64     `json:"eta_s"` // at that pace; null: not to be told
	Ceiling       Ceiling      `json:"ceiling"`
	CallS         *float64     `json:"call_s"`
	Fresh         int64        `json:"redelivered_fresh"`
	Scars         int64        `json:"redelivered_scars"`
	OldestAt      render.Time  `json:"oldest_at"` // null: nothing waits, or not known
	Adopts        wire.Text    `json:"adopts"`
	Adopted       render.Count `json:"adopted"`
	AdoptedAt     render.Time  `json:"adopted_oldest_at"`
	Missing       bool         `json:"adopted_missing"` // the queue is not there; adopted is null
}

// Incident is one stop and how it ended.
type Incident struct {
	ID         wire.Text   `json:"id"`
	Scope      wire.Text   `json:"scope"`
	Kind       wire.Text   `json:"kind"`
	State      string      `json:"state"` // open or closed
	Reason     wire.Text   `json:"reason"`
	OpenedAt   render.Time `json:"opened_at"`
	ClosedAt   render.Time `json:"closed_at"`
	ClosedBy   wire.Text   `json:"closed_by"`
	Evidence   wire.Text   `json:"evidence"`
	Records    []wire.Text `json:"records"`
	Workers    []wire.Text `json:"workers"`
	Faults     int         `json:"faults"`
	NotifiedAt render.Time `json:"notified_at"`
	Observed   bool        `json:"observed"`
}

// ParkedFlight is a flight that waits for a human.
type ParkedFlight struct {
	Flight     wire.Text   `json:"flight"`
	BusinessID wire.Text   `json:"business_id"`
	Gate       wire.Text   `json:"gate"`
	Reason     wire.Text   `json:"reason"`
	Evidence   wire.Text   `json:"evidence"`
	Charter    wire.Text   `json:"charter"`
	ParkedAt   render.Time `json:"parked_at"`
	Holds      Holds       `json:"holds"`
	Replays    int         `json:"replays"`
	Size       int         `json:"size"`
}

// Holds are the holds a flight has spent, by reason.
type Holds struct {
	Transient int `json:"transient"`
	Internal  int `json:"internal"`
}

// AuditEntry is one action of an operator.
type AuditEntry struct {
	ID     wire.Text   `json:"id"`
	At     render.Time `json:"at"`
	Actor  wire.Text   `json:"actor"`
	Action wire.Text   `json:"action"`
	Scope  wire.Text   `json:"scope"`
	Reason wire.Text   `json:"reason"`
	Result wire.Text   `json:"result"`
	Count  int         `json:"count"`
}

// OfAirport gives an airport's form.
func OfAirport(a governor.AirportInfo) Airport {
	var drain *float64
	if d, ok := Drain(a); ok {
		s := d.Seconds()
		drain = &s
	}
	return Airport{
		Airport: wire.Text(a.Airport), State: wire.Text(a.State), Reason: wire.Text(a.Reason),
		Evidence: wire.Text(a.Evidence), Since: render.Time(a.Since), By: wire.Text(a.By),
		Incident: wire.Text(a.Incident), Mode: wire.Text(a.Mode), Slots: a.Slots,
		SlotsUsed: render.Count(a.SlotsUsed), WindowS: a.Window.Seconds(),
		ThrottledUntil: render.Time(a.ThrottledUntil), Canary: a.Canary, CanaryLanded: a.CanaryLanded,
		Runway: render.Count(a.Runway), Holding: render.Count(a.Holding), Parked: render.Count(a.Parked),
		Rejected: render.Count(a.Rejected), InAir: render.Count(a.InAir), Landed: a.Landed, Acked: a.Acked, Adopted: render.Count(a.Adopted),
		PaceS: some(a.Pace.PerSecond, a.Pace.Known()), PaceOverS: a.Pace.Over.Seconds(), EtaS: some(a.Drain.Seconds(), a.Drain > 0),
		Workers: render.Count(a.Workers), Deaths: render.Count(a.Deaths), Suspects: render.Count(a.Suspects), Unsent: render.Count(a.Unsent),
		DrainS: drain, Gates: Each(a.Gates, OfGate),
	}
}

// OfGate gives a gate's form.
func OfGate(g governor.GateInfo) Gate {
	return Gate{
		Gate: wire.Text(g.Gate), State: wire.Text(g.State), Reason: wire.Text(g.Reason),
		Evidence: wire.Text(g.Evidence), Since: render.Time(g.Since), By: wire.Text(g.By),
		Incident: wire.Text(g.Incident), ProbeAt: render.Time(g.DelayProbeAt), Canary: g.Canary,
		CanaryLanded: g.CanaryLanded, WorkersWanted: render.Count(g.WorkersWanted),
		WorkersActual: render.Count(g.WorkersActual), Declared: render.Count(g.WorkersDeclared), Batch: g.Batch, Scaled: g.Scaled, Processes: staff(g), OnStop: OnStop(g),
		Runway: render.Count(g.Runway), Holding: render.Count(g.Holding), Parked: render.Count(g.Parked),
		Rejected: render.Count(g.Rejected), InAir: render.Count(g.InAir), Landed: g.Landed, Acked: g.Acked,
		PaceS: some(g.Pace.PerSecond, g.Pace.Known()), PaceOverS: g.Pace.Over.Seconds(), EtaS: some(g.Drain.Seconds(), g.Drain > 0),
		Ceiling: ceiling(g.Ceiling), CallS: some(g.Call.Seconds(), g.Call > 0), Fresh: g.Fresh, Scars: g.Scars,
		OldestAt: render.Time(g.Oldest), Adopts: wire.Text(g.Adopts), Adopted: Adopted(g), AdoptedAt: render.Time(g.AdoptedOldest),
		Missing: g.AdoptedMissing,
	}
}

// OfIncident gives an incident's form.
func OfIncident(i governor.Incident) Incident {
	return Incident{
		ID: wire.Text(i.ID), Scope: wire.Text(i.Scope), Kind: wire.Text(i.Kind), State: IncidentState(i),
		Reason: wire.Text(i.Reason), OpenedAt: render.Time(i.OpenedAt), ClosedAt: render.Time(i.ClosedAt),
		ClosedBy: wire.Text(i.ClosedBy), Evidence: wire.Text(i.Evidence), Records: texts(i.Records),
		Workers: texts(i.Workers), Faults: i.Faults, NotifiedAt: render.Time(i.NotifiedAt), Observed: i.Observed,
	}
}

// OfParked gives a parked flight's form.
func OfParked(p governor.ParkedFlight) ParkedFlight {
	return ParkedFlight{
		Flight: wire.Text(p.Flight), BusinessID: wire.Text(p.BusinessID), Gate: wire.Text(p.Gate),
		Reason: wire.Text(p.Reason), Evidence: wire.Text(p.Evidence), Charter: wire.Text(p.Charter),
		ParkedAt: render.Time(p.ParkedAt), Holds: Holds{p.Holds.Transient, p.Holds.Internal},
		Replays: p.Replays, Size: p.Size,
	}
}

// OfAudit gives an audit entry's form.
func OfAudit(a governor.AuditEntry) AuditEntry {
	return AuditEntry{
		ID: wire.Text(a.ID), At: render.Time(a.At), Actor: wire.Text(a.Actor), Action: wire.Text(a.Action),
		Scope: wire.Text(a.Scope), Reason: wire.Text(a.Reason), Result: wire.Text(a.Result), Count: a.Count,
	}
}

// OnStop is the word for what a stopped gate does with its flights.
func OnStop(g governor.GateInfo) string {
	if g.OnStop == settle.StayOnStop {
		return "stay"
	}
	return "park"
}

// IncidentState is open or closed.
func IncidentState(i governor.Incident) string {
	if i.Open() {
		return "open"
	}
	return "closed"
}

// Each gives the form of every item; never nil.
func Each[A, B any](in []A, of func(A) B) []B {
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = of(v)
	}
	return out
}

func texts(in []string) []wire.Text {
	return Each(in, func(s string) wire.Text { return wire.Text(s) })
}
