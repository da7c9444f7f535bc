package status

import (
	"fmt"
	"strings"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

func (r Report) print(opts *options) error {
	p := opts.Palette()
	var b strings.Builder
	for _, a := range r.Alarms {
		for _, line := range render.Wrap(a, opts.Width) {
			b.WriteString(p.Paint(render.Alarm, line) + "\n")
		}
	}
	if len(r.Alarms) > 0 {
		b.WriteByte('\n')
	}
	style := render.Bold
	if len(r.Attention) == 0 && r.Airports > 0 {
		style = render.Good
	}
	b.WriteString(p.Paint(style, r.headline()) + "\n")
	b.WriteString(r.counts() + "\n")
	if _, err := fmt.Fprint(opts.Out, b.String()); err != nil {
		return err
	}
	for _, it := range r.Attention {
		if err := it.print(opts); err != nil {
			return err
		}
	}
	return nil
}

// headline is the one sentence: what needs attention.
func (r Report) headline() string {
	if r.Airports == 0 {
		return "No airport is declared in namespace " + r.Namespace + " yet: a worker declares its airports when it starts."
	}
	count := map[string]int{}
	var order []string
	idle, unfed, held := 0, 0, 0
	for _, it := range r.Attention {
		word := string(it.State)
		if it.State == wire.Text(wire.Open) {
			switch {
			case it.Reason == governor.ReasonNoWorkers:
				idle++
			case it.Reason == governor.ReasonNoQueue:
				unfed++
			case it.Because != "":
				held++
			}
			continue // open, with parked flights: told in the counts
		}
		if count[word] == 0 {
			order = append(order, word)
		}
		count[word]++
	}
	if len(order) == 0 {
		all := []string{"All open"}
		if idle > 0 {
			all = append(all, render.Plural(render.Count(idle), "gate")+" without workers")
		}
		if unfed > 0 {
			all = append(all, render.Plural(render.Count(unfed), "gate")+" without the queue that is adopted")
		}
		if held > 0 {
			all = append(all, render.Plural(render.Count(held), "gate")+" that may wait for another")
		}
		if r.Parked > 0 {
			all = append(all, render.Plural(r.Parked, "flight")+" parked")
		}
		return strings.Join(all, "; ") + "."
	}
	parts := make([]string, len(order))
	for i, w := range order {
		parts[i] = fmt.Sprintf("%d %s", count[w], w)
	}
	return strings.Join(parts, ", ") + "."
}

// counts is the second line: how much there is of everything.
func (r Report) counts() string {
	waiting := wait(r.Waiting)
	if r.adopts {
		waiting += ", " + r.Adopted.String() + " in queues that are adopted"
	}
	return fmt.Sprintf("%s, %s; %s, %s; %s, %s in the air, %s parked.",
		render.Plural(render.Count(r.Airports), "airport"), render.Plural(render.Count(r.Gates), "gate"),
		render.Plural(render.Count(r.Workers), "worker"), render.Plural(render.Count(r.Towers), "tower"),
		waiting, r.InAir, r.Parked)
}

func (i Item) print(opts *options) error {
	p := opts.Palette()
	head := "\n" + p.Paint(render.Bold, i.Scope.String()) + "  " +
		p.Paint(render.StateStyle(wire.State(i.State)), i.State.String())
	if i.State != wire.Text(wire.Open) && !i.since().IsZero() {
		head += "  since " + render.Since(opts.Now(), i.since())
	}
	if _, err := fmt.Fprintln(opts.Out, head); err != nil {
		return err
	}
	f := []render.Field{
		{Name: "  why", Value: i.why()},
		{Name: "  incident", Value: i.Incident.String()},
		{Name: "  waits", Value: i.waits()},
	}
	for n, line := range i.Next {
		name := "  next"
		if n > 0 {
			name = "      "
		}
		f = append(f, render.Field{Name: name, Value: line, Style: render.Bold})
	}
	return render.Fields(opts.Out, f, opts.Width, p)
}

func (i Item) waits() string {
	s := fmt.Sprintf("%s on the runway, %s on hold, %s parked", i.Runway, i.Holding, i.Parked)
	if i.adopts != "" {
		s = i.Adopted.String() + " in " + i.adopts + ", " + s
	}
	return s
}

func (i Item) why() string {
	why := i.Reason.String()
	if why == "" && i.Evidence == "" {
		return i.Because.String()
	}
	if i.Evidence != "" {
		if why != "" {
			why += ": "
		}
		why += i.Evidence.String()
	}
	if i.State == wire.Text(wire.Paused) && i.By != "" {
		why += " (by " + i.By.String() + ")"
	}
	return why
}
