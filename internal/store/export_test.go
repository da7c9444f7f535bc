package store

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Fields, Parts and Source show tests what the scripts are made of.
var (
	Fields = fields
	Parts  = parts
	Source = func(file string) string { return source(file) }
)

// Edit runs the rest of the test with scripts whose files were edited. The tests
// of this package run one after the other.
func Edit(t testing.TB, edit func(file, src string) string) {
	was := source
	rebuild := func() {
		for name, s := range map[string]**redis.Script{"flight": &flightScript, "birth": &birthScript, "declare": &declareScript,
			"beat": &beatScript, "offer": &offerScript, "restore": &restoreScript, "reopen": &reopenScript, "pause": &pauseScript, "scale": &scaleScript,
			"outbox": &outboxScript, "sweep": &sweepScript, "notes": &notesScript, "used": &slotsScript,
			"charter": &charterScript, "remove": &removeScript, "operate": &operateScript} {
			*s = script(parts[name]...)
		}
	}
	source = func(file string) string { return edit(file, was(file)) }
	rebuild()
	t.Cleanup(func() { source = was; rebuild() })
}

// ClockKey is where the scripts of SetClock read the time, as a list of seconds and
// microseconds.
const ClockKey = "test-clock"

// SetClock makes the scripts of the rest of the test read a clock that the test
// sets, where the store has none that can be set.
func SetClock(t testing.TB) {
	const wall, set = "redis.call('TIME')", "redis.call('LRANGE', '" + ClockKey + "', 0, 1)"
	Edit(t, func(file, src string) string {
		if file == "lib" && strings.Count(src, wall) != 1 {
			t.Fatalf("lib.lua reads the clock %d times, want once", strings.Count(src, wall))
		}
		return strings.Replace(src, wall, set, 1)
	})
}

// ParseBeat reads a beat as the package does.
var ParseBeat = parseBeat

// StatusOf reads a status' hash as the package does.
var StatusOf = statusOf

// Client shows tests the store's own client.
func Client(s *Store) redis.UniversalClient { return s.rdb }
