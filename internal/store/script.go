package store

import (
	"embed"

	"github.com/redis/go-redis/v9"
)

//go:embed scripts/*.lua
var sources embed.FS

// source gives one file's text. Tests put another clock, or a broken rule, in its
// place.
var source = func(file string) string {
	b, err := sources.ReadFile("scripts/" + file + ".lua")
	if err != nil {
		// The files are part of the binary: a missing one cannot be built.
		panic(err)
	}
	return string(b)
}

// A script is the common head, the parts it needs, and its own file.
func script(files ...string) *redis.Script {
	src := source("lib")
	for _, f := range files {
		src += source(f)
	}
	return redis.NewScript(src)
}

// parts names the files of each script beside the common head.
var parts = map[string][]string{
	"flight":  {"slots", "books", "flight"},
	"birth":   {"slots", "birth"},
	"declare": {"declare"},
	"beat":    {"beat"},
	"offer":   {"offer"},
	"restore": {"merge", "restore"},
	"reopen":  {"merge", "reopen"},
	"pause":   {"pause"},
	"scale":   {"scale"},
	"remove":  {"remove"},
	"outbox":  {"outbox"},
	"sweep":   {"books", "sweep"},
	"charter": {"books", "charter"},
	"operate": {"books", "operate"},
	"solo":    {"solo"},
	"notes":   {"notes"},
	"used":    {"slots", "used"},
}

var (
	flightScript  = script(parts["flight"]...)
	birthScript   = script(parts["birth"]...)
	declareScript = script(parts["declare"]...)
	beatScript    = script(parts["beat"]...)
	offerScript   = script(parts["offer"]...)
	restoreScript = script(parts["restore"]...)
	reopenScript  = script(parts["reopen"]...)
	pauseScript   = script(parts["pause"]...)
	scaleScript   = script(parts["scale"]...)
	removeScript  = script(parts["remove"]...)
	outboxScript  = script(parts["outbox"]...)
	sweepScript   = script(parts["sweep"]...)
	charterScript = script(parts["charter"]...)
	operateScript = script(parts["operate"]...)
	soloScript    = script(parts["solo"]...)
	notesScript   = script(parts["notes"]...)
	slotsScript   = script(parts["used"]...)
)
