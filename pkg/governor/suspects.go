package governor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// SuspectInfo is a flight that was in the air when a worker, or its own child, died.
type SuspectInfo struct {
	Flight    string
	Airport   string
	Verdict   string // SUSPECT after one death, CONVICTED after two
	Workers   []string
	LastDeath time.Time
	Incident  string // of a conviction
}

// Suspects lists the suspects of an airport, or of all (""), by their last death.
// ErrNotFound: there is no such airport, and was none.
func (g *Governor) Suspects(ctx context.Context, airport string) ([]SuspectInfo, error) {
	ids, gate, err := g.chosen(ctx, airport)
	if err != nil {
		return nil, err
	}
	if gate != "" {
		return nil, fmt.Errorf("scope %q: suspects are an airport's: %w", wire.Visible(airport), ErrName)
	}
	var out []SuspectInfo
	for _, id := range ids {
		deaths, err := g.st.Deaths(ctx, id)
		if err != nil {
			return nil, classed(err)
		}
		for flight, raw := range deaths {
			out = append(out, suspect(id, flight, raw))
		}
	}
	slices.SortFunc(out, func(a, b SuspectInfo) int {
		if c := b.LastDeath.Compare(a.LastDeath); c != 0 {
			return c
		}
		return strings.Compare(a.Flight, b.Flight)
	})
	return out, g.listed(ctx, airport, len(out))
}

func suspect(airport, flight, raw string) SuspectInfo {
	entries, incident, _ := strings.Cut(raw, "!")
	s := SuspectInfo{Flight: flight, Airport: airport, Verdict: "SUSPECT", Incident: incident}
	for e := range strings.SplitSeq(entries, ",") {
		inc, at, ok := strings.Cut(e, "@")
		if !ok {
			continue
		}
		s.Workers = append(s.Workers, inc)
		if t := time.UnixMilli(atoi64(at)).UTC(); t.After(s.LastDeath) {
			s.LastDeath = t
		}
	}
	if len(s.Workers) > 1 {
		s.Verdict = "CONVICTED"
	}
	return s
}

// Suspect finds one by its flight id. ErrNotFound: the flight is none.
func (g *Governor) Suspect(ctx context.Context, flight string) (SuspectInfo, error) {
	list, err := g.Suspects(ctx, "")
	if err != nil {
		return SuspectInfo{}, err
	}
	for _, s := range list {
		if s.Flight == flight {
			return s, nil
		}
	}
	return SuspectInfo{}, fmt.Errorf("suspect %s: %w in namespace %s", wire.Visible(flight), ErrNotFound, g.ns)
}

// ClearSuspect forgets a flight's deaths: a human answers for it. It flies like any
// other; a parked one is still to be replayed.
func (g *Governor) ClearSuspect(ctx context.Context, flight, actor string) (SuspectInfo, error) {
	s, err := g.Suspect(ctx, flight)
	if err != nil {
		return s, err
	}
	desk, err := g.desk(ctx, wire.Scope{Airport: s.Airport})
	if err != nil {
		return s, err
	}
	gates := desk.Gates()
	if len(gates) == 0 {
		return s, fmt.Errorf("airport %s: %w: it has no gates in namespace %s", s.Airport, ErrNotFound, g.ns)
	}
	n, err := desk.ClearSuspects(ctx, gates[0], g.actor(actor), []string{flight})
	if err != nil {
		return s, classed(err)
	}
	// It is done: it stands in the audit also where ctx has ended meanwhile.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	return s, classed(g.st.AddAudit(end, s.Airport, wire.AuditEntry{Actor: g.actor(actor), Action: "suspect clear", Scope: s.Airport, Reason: wire.Visible(flight), Result: "ok", Count: n}))
}
