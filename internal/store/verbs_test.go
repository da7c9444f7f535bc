package store_test

import (
	"testing"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// situation is a state under each verb: what becomes of the scope.
type situation struct {
	name, gate                            string
	reach                                 func(b *board)
	fault, landing, reopen, canary, pause string
}

// Each reach leaves flights in the air that were cleared under the scope's fence.
func airTaken(then ...func(b *board)) func(b *board) {
	return func(b *board) {
		b.take(9)
		for _, f := range then {
			f(b)
		}
	}
}

func stopAirport(b *board)  { b.end(1, settle.AirportFault) }
func pauseAirport(b *board) { b.pause("") }
func stopGate(b *board)     { b.end(3, settle.GateFault) }
func pauseGate(b *board)    { b.pause("contacts") }
func delayGate(b *board)    { b.end(5, settle.Transient) }
func throttle(b *board)     { b.end(1, settle.RateLimit) }
func canaryAirport(b *board) {
	b.reopen("", 9)
	b.beat()
}
func canaryGate(b *board) { b.reopen("contacts", 9) }
func loseAirport(b *board) {
	b.forget(b.keys.Airport())
	b.find("")
}
func loseGate(b *board) {
	b.forget(b.keys.Gate("contacts"))
	b.find("contacts")
}
func loseBoth(b *board) {
	b.forget(b.keys.Gate("contacts"), b.keys.Airport())
	b.find("")
	b.find("contacts")
}
func late(b *board)     { b.at(5000) }
func takeMore(b *board) { b.take(5) }

func birthOf(gate string) func(b *board) {
	return func(b *board) {
		if gate == "" {
			b.forget(b.keys.Airport())
		} else {
			b.forget(b.keys.Gate(gate))
		}
		born, _, err := b.a.BeginBirth(b.t.Context(), gate)
		if err != nil || born != store.Look {
			b.t.Fatal(born, err)
		}
	}
}

const (
	opened   = "OPEN, epoch+, fence+, incident closed"
	openedBy = "OPEN, epoch+, fence+"
	tried    = "CANARY, epoch+, fence+"
	triedOn  = "CANARY, epoch+, fence+, same incident"
)

var situations = []situation{
	{"OPEN airport", "", airTaken(), "STOPPED, epoch+, new incident", "OPEN", "OPEN", tried, "OPEN, paused, epoch+"},
	{"OPEN gate", "contacts", airTaken(), "STOPPED, epoch+, new incident", "OPEN", "OPEN", tried, "OPEN, paused, epoch+"},
	{"STOPPED airport", "", airTaken(stopAirport), "STOPPED, same incident", "STOPPED, same incident", opened, triedOn, "STOPPED, paused, epoch+, same incident"},
	{"STOPPED gate", "contacts", airTaken(stopGate), "STOPPED, same incident", "STOPPED, same incident", opened, triedOn, "STOPPED, paused, epoch+, same incident"},
	{"PAUSED airport", "", airTaken(pauseAirport), "STOPPED, paused, epoch+, new incident", "OPEN, paused", openedBy, tried, "OPEN, paused, epoch+"},
	{"PAUSED gate", "contacts", airTaken(pauseGate), "STOPPED, paused, epoch+, new incident", "OPEN, paused", openedBy, tried, "OPEN, paused, epoch+"},
	{"STOPPED and PAUSED airport", "", airTaken(stopAirport, pauseAirport), "STOPPED, paused, same incident", "STOPPED, paused, same incident", opened, triedOn, "STOPPED, paused, epoch+, same incident"},
	{"STOPPED and PAUSED gate", "contacts", airTaken(stopGate, pauseGate), "STOPPED, paused, same incident", "STOPPED, paused, same incident", opened, triedOn, "STOPPED, paused, epoch+, same incident"},
	{"CANARY of a stopped airport", "", airTaken(stopAirport, canaryAirport, landOld, takeMore), "STOPPED, epoch+, same incident", "CANARY, same incident", opened, triedOn, "CANARY, paused, epoch+, same incident"},
	{"CANARY of a stopped gate", "contacts", airTaken(stopGate, canaryGate, landOld, takeMore), "STOPPED, epoch+, same incident", "CANARY, same incident", opened, triedOn, "CANARY, paused, epoch+, same incident"},
	{"CANARY of an open airport", "", airTaken(canaryAirport, landOld, takeMore), "STOPPED, epoch+, new incident", "CANARY", openedBy, tried, "CANARY, paused, epoch+"},
	{"CANARY and PAUSED gate", "contacts", airTaken(stopGate, canaryGate, landOld, takeMore, pauseGate), "STOPPED, paused, epoch+, same incident", "CANARY, paused, same incident", opened, triedOn, "CANARY, paused, epoch+, same incident"},
	{"THROTTLED airport", "", airTaken(throttle), "STOPPED, throttled, epoch+, new incident", "OPEN, throttled", "OPEN", tried, "OPEN, paused, throttled, epoch+"},
	{"DELAYED gate", "contacts", airTaken(delayGate), "STOPPED, delayed, epoch+, new incident", "OPEN, delayed", "OPEN", tried, "OPEN, paused, delayed, epoch+"},
	{"STATE_LOST airport", "", airTaken(loseAirport, late), "STOPPED, lost, held, epoch+, same incident", "STOPPED, lost, same incident", opened, triedOn, "STOPPED, paused, lost, epoch+, same incident"},
	{"STATE_LOST airport within 5 s", "", airTaken(loseAirport), "STOPPED, lost, held, epoch+, same incident", "STOPPED, lost, same incident", "STOPPED, lost, same incident", "STOPPED, lost, same incident", "STOPPED, paused, lost, epoch+, same incident"},
	{"STATE_LOST gate", "contacts", airTaken(loseGate, late), "STOPPED, lost, held, epoch+, same incident", "STOPPED, lost, same incident", opened, triedOn, "STOPPED, paused, lost, epoch+, same incident"},
	{"covered gate", "contacts", airTaken(loseBoth, late), "STOPPED, epoch+, new incident", "STOPPED, lost, covered", "STOPPED, lost, covered", "STOPPED, lost, covered", "STOPPED, paused, lost, covered, epoch+"},
	{"BIRTH of an airport", "", airTaken(birthOf("")), "BIRTH", "BIRTH", "BIRTH", "BIRTH", "BIRTH"},
	{"BIRTH of a gate", "contacts", airTaken(birthOf("contacts")), "BIRTH", "BIRTH", "BIRTH", "BIRTH", "BIRTH"},
}

// landOld ends what was cleared before a canary: it counts for nothing.
func landOld(b *board) { b.end(len(b.air), settle.Landed) }

func TestEveryStateUnderEveryVerb(t *testing.T) {
	for _, s := range situations {
		for verb, want := range map[string]string{"fault": s.fault, "landing": s.landing, "reopen": s.reopen, "canary": s.canary, "pause": s.pause} {
			t.Run(s.name+", "+verb, func(t *testing.T) {
				onBoard(t, store.Slots{}, func(b *board) {
					s.reach(b)
					b.now += 10
					b.d.setTime(b.now)
					before := b.status(s.gate)
					switch verb {
					case "fault":
						switch {
						case s.gate == "":
							b.end(1, settle.AirportFault)
						case before.State == wire.Canary:
							b.end(1, settle.GateFault)
						default:
							b.end(3, settle.GateFault)
						}
					case "landing":
						b.end(1, settle.Landed)
					case "reopen":
						b.reopen(s.gate, 0)
					case "canary":
						b.reopen(s.gate, 2)
					case "pause":
						b.pause(s.gate)
					}
					if got := b.change(before, b.status(s.gate)); got != want {
						b.t.Errorf("%q, want %q", got, want)
					}
				})
			})
		}
	}
}
