package airport

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

type fake struct{ airports []governor.AirportInfo }

func (f fake) Airports(context.Context) ([]governor.AirportInfo, error) { return f.airports, nil }

func (f fake) Airport(_ context.Context, id string) (governor.AirportInfo, error) {
	for _, a := range f.airports {
		if a.Airport == id {
			return a, nil
		}
	}
	return governor.AirportInfo{}, fmt.Errorf("airport %q: %w", id, governor.ErrNotFound)
}

func list(c clitest.Cmd, airports []governor.AirportInfo) error {
	return runList(context.Background(), &listOptions{c.Factory, func(context.Context) (lister, error) { return fake{airports}, nil }})
}

func show(c clitest.Cmd, id string) error {
	return runShow(context.Background(), &showOptions{c.Factory, func(context.Context) (shower, error) { return fake{clitest.Airports()}, nil }, id})
}

func TestList(t *testing.T) {
	for name, f := range map[string]render.Format{"list.txt": render.AsTable, "list.json": render.AsJSON, "list.jsonl": render.AsJSONL} {
		c := clitest.New(t, "")
		c.Output = f
		if err := list(c, clitest.Airports()); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
	}
}

// A backlog in adopted queues stands in the list, and the columns before it where they
// were.
func TestListHasWhatWaitsInAdoptedQueues(t *testing.T) {
	c := clitest.New(t, "")
	all := clitest.Airports()
	all[0].Adopted, all[0].Gates[0].Adopts, all[0].Gates[0].Adopted = 2665, "events", 2665
	if err := list(c, all); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "list-adopted.txt", c.Out.Bytes())
}

func TestListOnATerminal(t *testing.T) {
	c := clitest.New(t, "")
	c.OutTTY, c.Width, c.Color = true, 100, true
	if err := list(c, clitest.Airports()); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "list-terminal.txt", c.Out.Bytes())
}

func TestEmptyList(t *testing.T) {
	for f, want := range map[render.Format]string{render.AsTable: "", render.AsJSON: "[]\n", render.AsJSONL: ""} {
		c := clitest.New(t, "")
		c.Output = f
		if err := list(c, nil); err != nil || c.Out.String() != want {
			t.Errorf("%s: %v, stdout %q, want %q", f, err, c.Out, want)
		}
	}
}

func TestShow(t *testing.T) {
	for name, f := range map[string]render.Format{"show.txt": render.AsTable, "show.json": render.AsJSON} {
		c := clitest.New(t, "")
		c.Output = f
		if err := show(c, "crm:acme"); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
	}
	c := clitest.New(t, "")
	if err := show(c, "geo"); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "show-paused.txt", c.Out.Bytes())
}

func TestShowRefuses(t *testing.T) {
	for id, code := range map[string]int{"nope": exit.NotFound, "crm:acme/contact-sync": exit.Usage, "": exit.Usage, "a\nb": exit.Usage} {
		if err := show(clitest.New(t, ""), id); exit.Code(err) != code {
			t.Errorf("%q: %v, want code %d", id, err, code)
		}
	}
}

func TestNothingEvilReachesTheOutput(t *testing.T) {
	for _, f := range []render.Format{render.AsTable, render.AsJSON} {
		c := clitest.New(t, "")
		c.Output = f
		if err := show(c, "crm:acme"); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(c.Out.String(), "\x1b\u202e") {
			t.Errorf("%s: raw control characters in %q", f, c.Out)
		}
	}
}
