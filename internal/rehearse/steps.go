package rehearse

import "context"

// step is one thing that is rehearsed.
type step struct {
	name  string
	next  string // what to do where it fails and does not say by itself
	alone bool   // its failure says nothing of the steps behind it: they are taken all the same
	run   func(context.Context) (seen string, err error)
}

// Hints of more than one step.
const (
	nextDoctor  = "run tractionctl doctor -c with the same file and services, then the rehearsal again with --verbose"
	nextVerbose = "run it again with --verbose: the log says where the flights went; if it fails again on idle services, it is a defect worth reporting"
)

// steps lists everything in its order. Each finds every gate open and nothing on its
// way, and leaves it so; the last two end the workers.
func (r *rehearsal) steps() []step {
	return []step{
		{name: "compare", next: nextDoctor, alone: true, run: r.compare},
		{name: "stand in", next: nextDoctor, run: r.standIn},
		{name: "declare", next: nextDoctor, run: r.declare},
		{name: "land", next: nextVerbose, run: r.land},
		{name: "reject", next: nextVerbose, run: r.reject},
		{name: "hold", next: nextVerbose, run: r.hold},
		{name: "park", next: nextVerbose, run: r.park},
		{name: "replay", next: nextVerbose, run: r.replay},
		{name: "discard", next: nextVerbose, run: r.discard},
		{name: "gate stop", next: nextVerbose, run: r.gateStop},
		{name: "gate reopen", next: nextVerbose, run: r.gateReopen},
		{name: "airport stop", next: nextVerbose, run: r.airportStop},
		{name: "airport reopen", next: nextVerbose, run: r.airportReopen},
		{name: "batch", next: nextVerbose, run: r.batch},
		{name: "scale", next: nextVerbose, run: r.scale},
		{name: "intake", next: nextVerbose, run: r.intake},
		{name: "route", next: nextVerbose, run: r.route},
		{name: "rollback", next: nextVerbose, run: r.rollback},
		{name: "books", next: nextVerbose, run: r.books},
	}
}
