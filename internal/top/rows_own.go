package top

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func incidentEntry(i governor.Incident) entry {
	state, style, open := "closed", render.Plain, 1.0
	if i.Open() {
		state, style, open = "OPEN", render.Alarm, 0
	}
	newest := -float64(i.OpenedAt.UnixMilli())
	return entry{
		id: i.ID, scope: i.Scope,
		find: strings.ToLower(strings.Join([]string{i.ID, i.Scope, i.Kind, state, i.Reason, i.Evidence}, " ")),
		// Open ones first, each the newest first.
		keys: []sortKey{{n: open*1e15 + newest}, {n: newest}, {word: i.Kind}},
		cells: func(e eye) []cell {
			by := wire.Visible(i.ClosedBy)
			why := wire.Visible(i.Reason)
			if i.Observed {
				why = "would have stopped: " + why
			}
			if i.Evidence != "" {
				why += ": " + wire.Visible(i.Evidence)
			}
			return []cell{
				{text: render.Ago(e.now, i.OpenedAt)}, {state, style}, {text: wire.Visible(i.Kind)}, {text: wire.Visible(i.Scope)},
				count(i.Faults), {text: by}, {text: why},
			}
		},
		gist: func(eye) []string {
			return []string{wire.Visible(i.ID) + " " + wire.Visible(i.Kind) + ": " + wire.Visible(i.Reason), "evidence: " + wire.Visible(i.Evidence)}
		},
		shown: func(e eye) []field {
			f := []field{
				{"incident", wire.Visible(i.ID)},
				{"scope", wire.Visible(i.Scope)},
				{"kind", wire.Visible(i.Kind)},
				{"state", state},
				{"reason", wire.Visible(i.Reason)},
				{"evidence", wire.Visible(i.Evidence)},
				{"opened", render.Since(e.now, i.OpenedAt)},
				{"closed", render.Since(e.now, i.ClosedAt)},
				{"closed by", wire.Visible(i.ClosedBy)},
				{"notified", render.Since(e.now, i.NotifiedAt)},
				{"faults", strconv.Itoa(i.Faults)},
				{"records", render.Join(i.Records)},
				{"workers", render.Join(i.Workers)},
			}
			if i.Observed {
				f = append(f, field{"observed", "it would have stopped; the airport's mode is observe"})
			}
			return f
		},
	}
}

func parkedEntry(p governor.ParkedFlight) entry {
	at := float64(p.ParkedAt.UnixMilli())
	return entry{
		id: p.Gate + " " + p.Flight, scope: p.Gate, only: p.Flight,
		find: strings.ToLower(strings.Join([]string{p.Flight, p.BusinessID, p.Gate, string(p.Reason), p.Charter, p.Evidence}, " ")),
		keys: []sortKey{{n: at}, {n: -at}, {word: string(p.Reason)}},
		cells: func(e eye) []cell {
			_, gate, _ := strings.Cut(p.Gate, "/")
			return []cell{
				{text: render.Ago(e.now, p.ParkedAt)}, {text: wire.Visible(p.Flight)}, {text: wire.Visible(p.BusinessID)},
				{text: wire.Visible(gate)}, {wire.Visible(string(p.Reason)), render.Alarm}, {text: wire.Visible(p.Evidence)},
			}
		},
		gist: func(eye) []string {
			return []string{wire.Visible(p.Gate) + " " + wire.Visible(p.Flight) + ": " + wire.Visible(string(p.Reason)), "evidence: " + wire.Visible(p.Evidence)}
		},
		shown: func(e eye) []field {
			return []field{
				{"flight", wire.Visible(p.Flight)},
				{"business id", wire.Visible(p.BusinessID)},
				{"gate", wire.Visible(p.Gate)},
				{"reason", wire.Visible(string(p.Reason))},
				{"evidence", wire.Visible(p.Evidence)},
				{"charter", wire.Visible(p.Charter)},
				{"parked", render.Since(e.now, p.ParkedAt)},
				{"holds", fmt.Sprintf("%d transient, %d internal", p.Holds.Transient, p.Holds.Internal)},
				{"replays", strconv.Itoa(p.Replays)},
				{"size", plural(p.Size, "byte")},
			}
		},
	}
}

func charterEntry(c governor.CharterInfo) entry {
	open := 1.0
	if c.State == governor.CharterOpen {
		open = 0
	}
	b := c.Books
	style := render.Good
	if c.State == governor.CharterLost || c.State == governor.CharterAborted {
		style = render.Alarm
	}
	return entry{
		id: c.Charter, scope: gateOf(c.Charter),
		find: strings.ToLower(c.Charter + " " + string(c.State)),
		keys: []sortKey{{n: open}, {}, {n: -float64(b.Parked)}},
		cells: func(e eye) []cell {
			return []cell{
				{text: wire.Visible(c.Charter)}, {wire.Visible(string(c.State)), style}, count(b.Landed), count(b.Expected),
				{text: percent(b.Ended(), b.Expected)}, alarming(b.Parked), alarming(b.Rejected), {text: eta(c)},
				{text: bar(b.Ended(), b.Expected, 20, e.g), style: render.Good},
			}
		},
		gist: func(eye) []string {
			return []string{wire.Visible(c.Charter) + " " + wire.Visible(string(c.State)), "books: " + books(c)}
		},
		shown: func(e eye) []field {
			return []field{
				{"charter", wire.Visible(c.Charter)},
				{"state", wire.Visible(string(c.State))},
				{"books", books(c)},
				{"pending", fmt.Sprintf("%s, of which %s dispatched", render.Count(b.Pending()), render.Count(b.Dispatched))},
				{"progress", percent(b.Ended(), b.Expected) + " " + bar(b.Ended(), b.Expected, 30, e.g)},
				{"eta", eta(c)},
				{"opened", render.Since(e.now, c.OpenedAt)},
				{"by", wire.Visible(c.OpenedBy)},
				{"told", render.Since(e.now, c.ToldAt)},
			}
		},
	}
}

// books is the equation that holds when a charter is complete.
func books(c governor.CharterInfo) string {
	b := c.Books
	return fmt.Sprintf("%s landed + %s rejected + %s skipped + %s parked + %s discarded = %s of %s",
		render.Count(b.Landed), render.Count(b.Rejected), render.Count(b.Skipped), render.Count(b.Parked),
		render.Count(b.Discarded), render.Count(b.Ended()), render.Count(b.Expected))
}

func eta(c governor.CharterInfo) string {
	if c.ETA <= 0 {
		return "-"
	}
	return render.Rough(c.ETA)
}

// gateOf is the gate of a run.
func gateOf(run string) string {
	if i := strings.LastIndexByte(run, '/'); i >= 0 {
		return run[:i]
	}
	return run
}

// percent is rounded down: 100% is complete and nothing less.
func percent(n, of int) string {
	if of <= 0 {
		return "-"
	}
	return strconv.Itoa(100*n/of) + "%"
}

func bar(n, of, width int, g glyphs) string {
	full := 0
	if of > 0 {
		full = max(0, min(width, width*n/of))
	}
	return strings.Repeat(g.steps[len(g.steps)-1], full) + strings.Repeat(g.steps[0], width-full)
}
