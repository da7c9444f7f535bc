package governor

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

func (d *doctor) store(ctx context.Context) {
	sent := time.Now()
	now, err := d.g.st.Now(ctx)
	if err != nil {
		d.say(LevelSerious, "store", "", "it does not answer: "+err.Error(), "check the Redis URL and that the store is up; without it nothing is cleared: flights wait, none is lost")
		return
	}
	took := time.Since(sent)
	d.storeUp = true
	d.found = append(d.found, d.g.storeFindings(ctx)...)
	d.found = append(d.found, judgeClock(now.Sub(sent.Add(took/2)), took))
}

// storeFindings are what a store that may forget looks like. A worker looks at them
// when it starts.
func (g *Governor) storeFindings(ctx context.Context) []Finding {
	s, err := g.st.Server(ctx)
	if err != nil {
		s = store.Server{Used: -1, MaxMemory: -1}
	}
	policy, policyErr := g.st.EvictionPolicy(ctx)
	aof, known := g.st.Persistence(ctx)
	return []Finding{judgeStore(s, err), judgeMemory(s), judgeEviction(policy, s.MaxMemory, policyErr), judgePersistence(aof, known)}
}

func judgeStore(s store.Server, err error) Finding {
	if err != nil || s.Version == "" {
		return Finding{LevelNote, "store", "", "it answers; what it is cannot be read (INFO may not be allowed)", ""}
	}
	f := Finding{LevelOK, "store", "", wire.Visible(s.Product + " " + s.Version), ""}
	major := 0
	if _, err := fmt.Sscanf(s.Version, "%d.", &major); err == nil && s.Product == "redis" && major < 6 {
		f.Level, f.Fix = LevelWarning, "use Redis 6.2 or later, or Valkey: older ones were never tried"
	}
	return f
}

func judgeMemory(s store.Server) Finding {
	switch {
	case s.MaxMemory < 0 || s.Used < 0:
		return Finding{LevelNote, "memory", "", "how full the store is cannot be read", ""}
	case s.MaxMemory == 0:
		return Finding{LevelOK, "memory", "", fmt.Sprintf("%d MiB used, no limit", s.Used>>20), ""}
	}
	f := Finding{LevelOK, "memory", "", fmt.Sprintf("%d of %d MiB used", s.Used>>20, s.MaxMemory>>20), ""}
	if s.Used > s.MaxMemory/5*4 {
		f.Level, f.Fix = LevelWarning, "give the store more memory: when it is full it refuses writes, and nothing is cleared"
	}
	return f
}

func judgeEviction(policy string, maxMemory int64, err error) Finding {
	f := Finding{LevelOK, "eviction", "", "maxmemory-policy is " + wire.Visible(policy), ""}
	switch {
	case err != nil || policy == "":
		f.Level, f.Found = LevelNote, "maxmemory-policy cannot be read"
		f.Fix = "make sure that it is noeviction or volatile-*: under allkeys-* stops, notes and books vanish without a word"
	case strings.HasPrefix(policy, "allkeys-"):
		f.Level = LevelSerious
		f.Found += ": the store evicts keys that do not expire, so stops, notes and books may vanish without a word"
		if maxMemory == 0 {
			f.Found += " once it gets a maxmemory (it has none now)"
		}
		f.Fix = "set maxmemory-policy to noeviction, or give Traction a store of its own"
	}
	return f
}

func judgePersistence(aof, known bool) Finding {
	switch {
	case !known:
		return Finding{LevelNote, "persistence", "", "whether the store appends to a file cannot be read", "make sure that appendonly is yes: without it a restart of the store forgets"}
	case !aof:
		return Finding{LevelWarning, "persistence", "",
			"the store does not append to a file: a restart of it forgets; open airports come back by themselves while workers live, stopped ones stay stopped",
			"set appendonly yes"}
	}
	return Finding{LevelOK, "persistence", "", "the store appends to a file", ""}
}

// judgeClock compares the store's clock with ours. Where two processes must agree
// the store's alone counts; people compare it with their own.
func judgeClock(ahead, took time.Duration) Finding {
	off := ahead.Abs()
	word := "ahead of"
	if ahead < 0 {
		word = "behind"
	}
	f := Finding{LevelOK, "clock", "", fmt.Sprintf("the store's is %s %s ours, give or take %s; the broker's cannot be read", off.Round(time.Millisecond), word, (took / 2).Round(time.Millisecond)), ""}
	if off-took/2 > 5*time.Second {
		f.Level, f.Fix = LevelWarning, "let NTP set the clocks of this host and of the store: rules follow the store's clock, times in logs the host's"
	}
	return f
}

// checkStore tells, when a worker starts, of a store that may forget. It refuses
// nothing: a status that vanishes stops its scope, so an evicting store stops too
// much rather than too little, and a worker that does not start flies nothing at
// all.
func (g *Governor) checkStore(ctx context.Context) {
	for _, f := range g.storeFindings(ctx) {
		level := slog.LevelDebug
		switch {
		case f.Level == LevelSerious:
			level = slog.LevelError
		case f.Level == LevelWarning:
			level = slog.LevelWarn
		case f.Level == LevelNote && f.Fix != "":
			level = slog.LevelInfo
		}
		if ctx.Err() == nil {
			g.log.Log(ctx, level, "the store: "+f.Found, "check", f.Check, "fix", f.Fix)
		}
	}
}
