package governor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// Airports tells what stands of every airport in the namespace, by name.
func (g *Governor) Airports(ctx context.Context) ([]AirportInfo, error) {
	ids, err := g.st.Airports(ctx)
	if err != nil {
		return nil, classed(err)
	}
	slices.Sort(ids)
	return g.airports(ctx, ids)
}

// Airport tells what stands of one airport. ErrNotFound: nobody has declared it.
func (g *Governor) Airport(ctx context.Context, id string) (AirportInfo, error) {
	sc, err := wire.ParseAirport(id)
	if err != nil {
		return AirportInfo{}, err
	}
	infos, err := g.airports(ctx, []string{sc.Airport})
	if err != nil {
		return AirportInfo{}, err
	}
	if len(infos) == 0 {
		return AirportInfo{}, fmt.Errorf("airport %s: %w in namespace %s", sc, ErrNotFound, g.ns)
	}
	return infos[0], nil
}

// Gates tells what stands of an airport's gates, or of all ("").
func (g *Governor) Gates(ctx context.Context, airport string) ([]GateInfo, error) {
	var infos []AirportInfo
	var err error
	if airport == "" {
		infos, err = g.Airports(ctx)
	} else {
		var a AirportInfo
		a, err = g.Airport(ctx, airport)
		infos = []AirportInfo{a}
	}
	if err != nil {
		return nil, err
	}
	var gates []GateInfo
	for _, a := range infos {
		gates = append(gates, a.Gates...)
	}
	return gates, nil
}

// Gate tells what stands of one gate. ErrNotFound: nobody has declared it.
func (g *Governor) Gate(ctx context.Context, scope string) (GateInfo, error) {
	sc, err := wire.ParseGate(scope)
	if err != nil {
		return GateInfo{}, err
	}
	a, err := g.Airport(ctx, sc.Airport)
	if err != nil {
		return GateInfo{}, err
	}
	for _, x := range a.Gates {
		if x.Gate == sc.String() {
			return x, nil
		}
	}
	return GateInfo{}, fmt.Errorf("gate %s: %w in namespace %s", sc, ErrNotFound, g.ns)
}

// airports reads the given airports; one that nobody has declared is left out, one
// that the store has forgotten is UNKNOWN.
func (g *Governor) airports(ctx context.Context, ids []string) ([]AirportInfo, error) {
	sns, err := g.st.Snapshots(ctx, ids...)
	if err != nil {
		return nil, classed(err)
	}
	var out []AirportInfo
	for i, sn := range sns {
		if sn.Airport.State == wire.Unknown && len(sn.Gates) == 0 {
			known, err := g.bk.HasExchange(ctx, g.ns.BornExchange(wire.Scope{Airport: ids[i]}))
			if err != nil {
				return nil, classed(err)
			}
			if !known {
				continue
			}
		}
		out = append(out, airportInfo(sn))
	}
	g.depths(ctx, out)
	for i := range out {
		forecast(&out[i])
	}
	for i := range out {
		if out[i].Slots > 0 {
			n, err := g.st.Airport(out[i].Airport, g.id+"-op").SlotsUsed(ctx)
			if err != nil {
				return nil, classed(err)
			}
			out[i].SlotsUsed = n
		}
	}
	return out, nil
}

func airportInfo(sn store.Snapshot) AirportInfo {
	a := sn.Airport
	info := AirportInfo{
		Airport: a.Scope.Airport, State: a.Shown(sn.Now), Reason: a.Reason, Evidence: a.Evidence, Since: a.Since, Incident: a.Incident,
		By: a.By, Mode: Mode(a.Mode), Slots: a.SlotsN, Window: a.SlotsPer, ThrottledUntil: a.ThrottledUntil, Canary: a.CanaryN,
		CanaryLanded: a.CanaryLanded, InAir: sn.Notes, Deaths: sn.Deaths, Suspects: sn.Suspects, Unsent: sn.Outbox,
	}
	if !a.ThrottledUntil.After(sn.Now) {
		info.ThrottledUntil = time.Time{}
	}
	if info.State == Throttled {
		info.Reason, info.Since = "RATE_LIMIT", a.ThrottledSince
	}
	var workers []string
	for _, b := range sn.Beats {
		if b.Kind != store.TowerOnly && !slices.Contains(workers, b.Worker()) {
			workers = append(workers, b.Worker())
		}
	}
	info.Workers = len(workers)
	for _, st := range sn.Gates {
		gate := GateInfo{
			Gate: st.Scope.String(), State: st.Shown(sn.Now), Reason: st.Reason, Evidence: st.Evidence, Since: st.Since, Incident: st.Incident,
			By: st.By, Canary: st.CanaryN, CanaryLanded: st.CanaryLanded, WorkersWanted: st.Scale.Workers(st.Workers), Batch: max(st.Scale.Batch(st.Batch), 1), BatchDeclared: st.Batch, Holding: sn.Holding[st.Scope.Gate],
			InAir: sn.InAir[st.Scope.Gate], Landed: st.Landed, Acked: st.Acked, Adopts: st.Adopts,
		}
		if st.Delayed {
			gate.DelayProbeAt = st.DelayProbeAt
		}
		if gate.State == Delayed {
			gate.Reason, gate.Since, gate.Incident = "TRANSIENT", st.DelaySince, st.DelayID
		}
		if st.OnStop == "stay" {
			gate.OnStop = settle.StayOnStop
		}
		gate.staffed(sn, st)
		gate.Runway = handWaiting(sn, st)
		gate.told(sn, st)
		info.Holding += gate.Holding
		info.Landed += gate.Landed
		info.Acked += gate.Acked
		info.Gates = append(info.Gates, gate)
	}
	return info
}

// handWaiting counts the flights of a gate that wait in workers' hands: taken from the
// runway and not in the air. Where nothing flies they are given back, and the runway
// counts them.
func handWaiting(sn store.Snapshot, gate wire.Status) int {
	if !sn.Airport.Flies() || !gate.Flies() {
		return 0
	}
	n := -sn.InAir[gate.Scope.Gate]
	for _, b := range latestBeats(sn.Beats) {
		n += b.Loads[gate.Scope.Gate].InHand
	}
	return max(n, 0)
}

// depths fills in the counts of queues, many at once.
func (g *Governor) depths(ctx context.Context, infos []AirportInfo) {
	work := make(chan *GateInfo)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for gi := range work {
				sc, err := wire.ParseGate(gi.Gate)
				if err != nil {
					continue
				}
				depth := func(queue string) int {
					n, exists, err := g.bk.Depth(ctx, queue)
					if err != nil {
						return Unread
					}
					if !exists {
						return 0
					}
					return n
				}
				gi.Runway = sum(depth(g.ns.Runway(sc)), gi.Runway) // beside what waits in hand
				gi.Parked = g.counted(ctx, g.ns.Parked(sc))
				gi.Rejected = g.counted(ctx, g.ns.Rejected(sc, wire.DefaultRejectedKeep))
				gi.Adopted, gi.AdoptedMissing = g.adoptedAt(ctx, gi.Adopts)
				if gi.AdoptedMissing && gi.State == wire.Open && gi.Reason == "" {
					gi.Reason, gi.Evidence = ReasonNoQueue, gi.Adopts+", which it adopts, is not there"
				}
			}
		})
	}
	for i := range infos {
		for j := range infos[i].Gates {
			work <- &infos[i].Gates[j]
		}
	}
	close(work)
	wg.Wait()
	for i := range infos {
		a := &infos[i]
		for _, gi := range a.Gates {
			a.Runway, a.Parked, a.Rejected = sum(a.Runway, gi.Runway), sum(a.Parked, gi.Parked), sum(a.Rejected, gi.Rejected)
			a.Adopted = sum(a.Adopted, gi.Adopted)
		}
	}
}

// sum adds counts; what could not be read makes the sum unread.
func sum(a, b int) int {
	if a == Unread || b == Unread {
		return Unread
	}
	return a + b
}

// Incidents lists incidents, newest first. ErrNotFound: there is no such scope, and was
// none.
func (g *Governor) Incidents(ctx context.Context, f IncidentFilter) ([]Incident, error) {
	ids, prefix, err := g.chosen(ctx, f.Scope)
	if err != nil {
		return nil, err
	}
	var out []Incident
	for _, id := range ids {
		list, err := g.st.Incidents(ctx, id)
		if err != nil {
			return nil, classed(err)
		}
		for _, i := range list {
			if prefix != "" && i.Scope != prefix || f.Open && i.ClosedAt > 0 || !f.Since.IsZero() && i.OpenedAt < f.Since.UnixMilli() {
				continue
			}
			out = append(out, incidentInfo(i))
		}
	}
	slices.SortStableFunc(out, func(a, b Incident) int { return b.OpenedAt.Compare(a.OpenedAt) })
	return out, g.listed(ctx, f.Scope, len(out))
}

// chosen gives the airports that a scope filter means, and the gate to keep to.
func (g *Governor) chosen(ctx context.Context, scope string) (airports []string, gate string, err error) {
	if scope == "" {
		airports, err = g.st.Remembered(ctx)
		slices.Sort(airports)
		return airports, "", classed(err)
	}
	sc, err := parseAirportOrGate(scope)
	if err != nil {
		return nil, "", err
	}
	if sc.Gate != "" {
		gate = sc.String()
	}
	return []string{sc.Airport}, gate, nil
}

// listed is ErrNotFound where nothing was found of a scope because there is none, nor
// was: a name that is mistyped is no empty list.
func (g *Governor) listed(ctx context.Context, scope string, found int) error {
	if scope == "" || found > 0 {
		return nil
	}
	sc, err := parseAirportOrGate(scope)
	if err != nil {
		return err
	}
	gates, declared, err := g.st.GatesOf(ctx, sc.Airport)
	if err != nil {
		return classed(err)
	}
	there := declared && (sc.Gate == "" || slices.Contains(gates, sc.Gate))
	if !declared {
		was, err := g.st.Remembered(ctx)
		if err != nil {
			return classed(err)
		}
		there = slices.Contains(was, sc.Airport)
	}
	if !there {
		return fmt.Errorf("%s: %w in namespace %s", sc, ErrNotFound, g.ns)
	}
	return nil
}

func incidentInfo(i wire.Incident) Incident {
	at := func(ms int64) time.Time {
		if ms == 0 {
			return time.Time{}
		}
		return time.UnixMilli(ms).UTC()
	}
	return Incident{ID: i.ID, Scope: i.Scope, Kind: i.Kind, Reason: i.Reason, OpenedAt: at(i.OpenedAt), ClosedAt: at(i.ClosedAt), ClosedBy: i.ClosedBy,
		Evidence: i.Evidence, Records: i.Records, Workers: i.Workers, Faults: i.Faults, NotifiedAt: at(i.NotifiedAt), Observed: i.Observed}
}

// Incident finds one by its id, or the latest of a scope. ErrNotFound: there is
// none.
func (g *Governor) Incident(ctx context.Context, idOrScope string) (Incident, error) {
	scope, _, isID := strings.Cut(idOrScope, "@")
	sc, err := parseAirportOrGate(scope)
	if err != nil {
		return Incident{}, err
	}
	list, err := g.Incidents(ctx, IncidentFilter{Scope: sc.String()})
	if err != nil {
		return Incident{}, err
	}
	for _, i := range list {
		if isID && i.ID == idOrScope || !isID && i.Scope == sc.String() {
			return i, nil
		}
	}
	return Incident{}, fmt.Errorf("incident %s: %w in namespace %s", wire.Visible(idOrScope), ErrNotFound, g.ns)
}

// Audit lists operators' actions, newest first. ErrNotFound: there is no such scope, and
// was none.
func (g *Governor) Audit(ctx context.Context, f AuditFilter) ([]AuditEntry, error) {
	ids, prefix, err := g.chosen(ctx, f.Scope)
	if err != nil {
		return nil, err
	}
	var out []AuditEntry
	for _, id := range ids {
		list, err := g.st.Audit(ctx, id, 0)
		if err != nil {
			return nil, classed(err)
		}
		for _, e := range list {
			at := time.UnixMilli(e.At).UTC()
			if prefix != "" && e.Scope != prefix || !f.Since.IsZero() && at.Before(f.Since) {
				continue
			}
			out = append(out, AuditEntry{ID: e.ID, At: at, Actor: e.Actor, Action: e.Action, Scope: e.Scope, Reason: e.Reason, Result: e.Result, Count: e.Count})
		}
	}
	slices.SortStableFunc(out, func(a, b AuditEntry) int { return b.At.Compare(a.At) })
	if f.Limit > 0 && len(out) > f.Limit {
		out = out[:f.Limit]
	}
	return out, g.listed(ctx, f.Scope, len(out))
}

// Processes lists the live workers and towers.
func (g *Governor) Processes(ctx context.Context) ([]ProcessInfo, error) {
	list, err := g.st.Presences(ctx)
	if err != nil {
		return nil, classed(err)
	}
	var out []ProcessInfo
	for _, p := range list {
		out = append(out, ProcessInfo{ID: p.ID, Tower: p.Tower, Airports: p.Airports, LastBeat: time.UnixMilli(p.At).UTC()})
	}
	slices.SortFunc(out, func(a, b ProcessInfo) int {
		if c := strings.Compare(a.ID, b.ID); c != 0 {
			return c
		}
		if a.Tower == b.Tower {
			return 0
		}
		if a.Tower {
			return 1
		}
		return -1
	})
	return out, nil
}
