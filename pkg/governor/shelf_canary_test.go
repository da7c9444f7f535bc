package governor

import (
	"testing"
	"time"
)

func TestACanarySaysWhatItWaitsFor(t *testing.T) {
	at := time.Date(2026, 11, 30, 16, 2, 0, 0, time.UTC)
	flies := GateInfo{Gate: "crm:acme/c", State: OpenState, WorkersActual: 4}
	delayed, probing, alone := flies, flies, flies
	delayed.State, delayed.DelayProbeAt = Delayed, at
	probing.State = Delayed
	alone.WorkersActual = 0
	for name, c := range map[string]struct {
		airport AirportInfo
		gate    GateInfo
		moves   map[string]string
		want    string
	}{
		"on their way": {AirportInfo{State: OpenState}, flies, map[string]string{"f1": "", "f2": "L"}, ""},
		"a throttle":   {AirportInfo{Airport: "crm:acme", State: Throttled, ThrottledUntil: at}, flies, nil, "crm:acme is THROTTLED until 2026-11-30T16:02:00Z: its vendor asked for fewer calls"},
		"a delay": {AirportInfo{State: OpenState}, delayed, nil,
			"crm:acme/c is DELAYED: its vendor is down, and nothing but one probe flies before it answers; the next one at 2026-11-30T16:02:00Z"},
		"a delay without a time": {AirportInfo{State: OpenState}, probing, nil, "crm:acme/c is DELAYED: its vendor is down, and one probe at a time flies until it answers"},
		"nobody there":           {AirportInfo{State: OpenState}, alone, nil, "no worker serves crm:acme/c, until one is started"},
		"a hold":                 {AirportInfo{State: OpenState}, flies, map[string]string{"f2": "H30000", "f1": "L"}, "flight f2 failed for now and is on hold for 30s"},
	} {
		if got := waitsFor(c.airport, c.gate, c.moves); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", name, got, c.want)
		}
	}
}
