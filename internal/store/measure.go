package store

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ledgerless are the places of flight.lua that read and write the in-flight ledger,
// and what stands there without it: every flown flight counts as its settler's own.
var ledgerless = []struct{ has, becomes string }{
	{"redis.call('HLEN', K.deaths) == 0", "true"},
	{"= hmget(K.flying, ids)", "= {}"},
	{"local note = parseNote(r)", "local note = { inc = s.inc, worker = workerOf(s.inc), start = s.start, tokA = 0, tokG = 0 }"},
	{"redis.call('HSET', K.flying, s.flight, 'L ' .. caller .. ' ' .. str(now) .. (own and ' 1' or ' 0'))", ""},
	{"set[#set + 1] = clears[i].flight", ""},
	{"set[#set + 1] = 'N ' .. inc .. tail .. str(tokA[i] or 0) .. ' ' .. str(tokG[i] or 0) .. ' ' .. G.id", ""},
	{"hset(K.flying, set)", ""},
}

// WithoutLedger makes this process's flight script keep no notes, no landing marks
// and no deaths, until restore is called. It is for measuring what the ledger costs,
// and for nothing else: without it a flight may be flown twice, and a flight that
// kills its workers is never found out. It must not be called, nor restore, while a
// store is in use. It fails where the script is not the one it knows.
func WithoutLedger() (restore func(), err error) {
	src := source("lib")
	for _, f := range parts["flight"] {
		text := source(f)
		if f == "flight" {
			for _, e := range ledgerless {
				if !strings.Contains(text, e.has) {
					return nil, fmt.Errorf("measure without the ledger: flight.lua has no %q any more: bring the list of its places up to date", e.has)
				}
				text = strings.ReplaceAll(text, e.has, e.becomes)
			}
		}
		src += text
	}
	was := flightScript
	flightScript = redis.NewScript(src)
	return func() { flightScript = was }, nil
}
