package settle

import "fmt"

// Outcome is what a reporter says a call's result means. The size of a failure
// is the scope that it breaks: one record, one gate, or the whole airport.
type Outcome uint8

const (
	// Landed: the call did its work.
	Landed Outcome = iota + 1
	// FlightFault: this record can never succeed; it says nothing about the next.
	FlightFault
	// GateFault: this kind of work is broken (a changed contract, a gone endpoint).
	GateFault
	// AirportFault: the whole connection is broken (an expired token); every call
	// fails until a human acts.
	AirportFault
	// RateLimit: the vendor asked for fewer calls.
	RateLimit
	// Conflict: a deadlock or a serialization failure, worth a retry in place.
	Conflict
	// Transient: not now (a timeout, a 503); it may well work later.
	Transient
	// Internal: our own bug, a panic, or an error nobody classified.
	Internal
)

var outcomeNames = [...]string{
	Landed: "LANDED", FlightFault: "FLIGHT_FAULT", GateFault: "GATE_FAULT",
	AirportFault: "AIRPORT_FAULT", RateLimit: "RATE_LIMIT", Conflict: "CONFLICT",
	Transient: "TRANSIENT", Internal: "INTERNAL",
}

// Outcomes lists every outcome in the order of the settle table.
func Outcomes() []Outcome {
	return []Outcome{Landed, FlightFault, GateFault, AirportFault, RateLimit, Conflict, Transient, Internal}
}

// String gives the outcome's name as it stands in logs, docs and reports.
func (o Outcome) String() string {
	if o.Valid() {
		return outcomeNames[o]
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// Valid reports whether o is one of the outcomes above.
func (o Outcome) Valid() bool { return o >= Landed && o <= Internal }

// ParseOutcome reads a name as String writes it.
func ParseOutcome(name string) (Outcome, error) {
	for _, o := range Outcomes() {
		if outcomeNames[o] == name {
			return o, nil
		}
	}
	return 0, fmt.Errorf("unknown outcome %q: use one of LANDED, FLIGHT_FAULT, GATE_FAULT, AIRPORT_FAULT, RATE_LIMIT, CONFLICT, TRANSIENT, INTERNAL", name)
}

// CountsRecord reports whether the outcome counts its record toward the gate's
// record streak: five distinct bad records in a row are no longer bad records.
func (o Outcome) CountsRecord() bool { return o == FlightFault || o == Internal }
