package store

import (
	"context"
	"strings"
)

// Born is what a birth call says to do.
type Born uint8

// The answers of a birth.
const (
	Stands       Born = iota // the scope has a status
	Look                     // look for the scope's marker, then FinishBirth with the epoch
	AtIt                     // another process is at it: ask again later
	AirportFirst             // the gate's airport has no status yet
	NotMine                  // the birth was taken over
)

// BeginBirth writes BIRTH where the scope has no status (gate "" is the airport).
// For Look, epoch identifies the birth.
func (a *Airport) BeginBirth(ctx context.Context, gate string) (b Born, epoch int64, err error) {
	return a.birth(ctx, gate, "begin", 0, false, Slots{})
}

// FinishBirth opens the scope, or makes it STATE_LOST when its marker was present:
// the broker remembers what the store does not.
func (a *Airport) FinishBirth(ctx context.Context, gate string, epoch int64, markerPresent bool, slots Slots) (Born, error) {
	b, _, err := a.birth(ctx, gate, "finish", epoch, markerPresent, slots)
	return b, err
}

func (a *Airport) birth(ctx context.Context, gate, phase string, epoch int64, present bool, slots Slots) (Born, int64, error) {
	gates := scopeGates(gate)
	_, res, err := a.run(ctx, birthScript, gates, phase, epoch, flag(present), slots.N, slots.Per.Milliseconds(), slots.Stamp)
	if err != nil {
		return 0, 0, err
	}
	word, rest, _ := strings.Cut(text(res[1]), " ")
	switch word {
	case "ok":
		return Stands, 0, nil
	case "look":
		return Look, integer(rest), nil
	case "airport":
		return AirportFirst, 0, nil
	case "gone":
		return NotMine, 0, nil
	}
	return AtIt, 0, nil
}

func scopeGates(gate string) []string {
	if gate == "" {
		return nil
	}
	return []string{gate}
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
