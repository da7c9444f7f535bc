// Package complete offers what lives in the store where a scope is typed: airports,
// gates, incidents, charters and suspects.
//
// # Model
//
// A completion runs at every press of Tab, in the middle of somebody's line. It only
// reads, from the store alone, so that it is quick and works while the broker is
// down; it is bounded as a whole, and says nothing when it fails: a store that is
// away gives no words, never an error on the line nor files in the place of scopes.
package complete

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/factory"
	"github.com/traction-go/traction/internal/cli/settings"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// Patience bounds one completion, the opening included: longer is felt.
const Patience = 300 * time.Millisecond

// most bounds what is offered: nobody reads more, and shells become slow.
const most = 200

// reader is what is asked. A *store.Store is one.
type reader interface {
	Airports(ctx context.Context) ([]string, error)
	Snapshots(ctx context.Context, airports ...string) ([]store.Snapshot, error)
	Incidents(ctx context.Context, airport string) ([]wire.Incident, error)
	Charters(ctx context.Context, airport string) ([]store.CharterStatus, error)
	Deaths(ctx context.Context, airport string) (map[string]string, error)
}

// word is a candidate and what is said about it.
type word struct{ id, about string }

// Kind is what an argument wants.
type Kind func(ctx context.Context, r reader, airports []string) []word

// First makes the completion of a first argument; further ones have none.
func First(f *factory.Factory, kind Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		// Not through Factory.Settings: it says its warnings on the line.
		s, err := settings.Resolve(f.Flags, f.Getenv)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var urls []string
		for u := range strings.SplitSeq(s.Redis, ",") {
			urls = append(urls, strings.TrimSpace(u))
		}
		st, err := store.Open(store.Config{URLs: urls, Namespace: wire.Namespace(s.Namespace), Timeout: Patience})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer st.Close()
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, Patience)
		defer cancel()
		return offer(ctx, st, kind, toComplete), cobra.ShellCompDirectiveNoFileComp
	}
}

// offer gives the candidates that begin with what is typed already. What was read
// until the bound is offered.
func offer(ctx context.Context, r reader, kind Kind, typed string) []cobra.Completion {
	airports, err := r.Airports(ctx)
	if err != nil {
		return nil
	}
	slices.Sort(airports)
	var list []cobra.Completion
	for _, w := range kind(ctx, r, meant(airports, typed)) {
		if len(list) < most && strings.HasPrefix(w.id, typed) {
			list = append(list, cobra.CompletionWithDesc(wire.Visible(w.id), wire.Visible(w.about)))
		}
	}
	return list
}

// meant keeps the airports that a line can still mean; all of them where what is
// typed begins with none, as a flight's id does.
func meant(airports []string, typed string) []string {
	airport, _, below := strings.Cut(strings.ReplaceAll(typed, "@", "/"), "/")
	var list []string
	for _, id := range airports {
		if id == airport || !below && strings.HasPrefix(id, airport) {
			list = append(list, id)
		}
	}
	if len(list) == 0 && !below {
		return airports
	}
	return list
}

// Airports are the ids, each with its state.
func Airports(ctx context.Context, r reader, airports []string) (list []word) {
	return scopes(ctx, r, airports, true, false)
}

// Gates are airport/gate, each with its state.
func Gates(ctx context.Context, r reader, airports []string) []word {
	return scopes(ctx, r, airports, false, true)
}

// Scopes are the airports and the gates.
func Scopes(ctx context.Context, r reader, airports []string) []word {
	return scopes(ctx, r, airports, true, true)
}

func scopes(ctx context.Context, r reader, airports []string, above, below bool) (list []word) {
	snapshots, err := r.Snapshots(ctx, airports...)
	if err != nil {
		return nil
	}
	for i, s := range snapshots {
		if above {
			list = append(list, word{airports[i], string(s.Airport.Shown(s.Now))})
		}
		for _, g := range s.Gates {
			if below {
				list = append(list, word{g.Scope.String(), string(g.Shown(s.Now))})
			}
		}
	}
	return list
}

// Incidents are the ids, the newest first, each with how it stands, after the scopes
// that have one: a scope means its latest.
func Incidents(ctx context.Context, r reader, airports []string) (list []word) {
	var all []wire.Incident
	for _, a := range airports {
		some, err := r.Incidents(ctx, a)
		if err != nil {
			break
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b wire.Incident) int { return cmp.Compare(b.OpenedAt, a.OpenedAt) })
	had := map[string]bool{}
	for _, i := range all {
		if !had[i.Scope] {
			had[i.Scope] = true
			list = append(list, word{i.Scope, "its latest incident"})
		}
	}
	for _, i := range all {
		how := "closed, " + i.Reason
		if i.ClosedAt == 0 {
			how = "open, " + i.Reason
		}
		list = append(list, word{i.ID, how})
	}
	return list
}

// Charters are airport/gate/run, each with how far it is.
func Charters(ctx context.Context, r reader, airports []string) (list []word) {
	for _, a := range airports {
		some, err := r.Charters(ctx, a)
		if err != nil {
			break
		}
		for _, c := range some {
			how := "open"
			switch {
			case c.Lost:
				how = "lost"
			case c.Aborted:
				how = "aborted"
			case c.Books.Complete():
				how = "complete"
			}
			list = append(list, word{c.Scope.String(), how})
		}
	}
	return list
}

// Suspects are the flight ids of what was in the air at a death.
func Suspects(ctx context.Context, r reader, airports []string) (list []word) {
	for _, a := range airports {
		deaths, err := r.Deaths(ctx, a)
		if err != nil {
			break
		}
		for _, flight := range slices.Sorted(maps.Keys(deaths)) {
			list = append(list, word{flight, a})
		}
	}
	return list
}
