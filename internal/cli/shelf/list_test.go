package shelf

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func flights() []governor.ParkedFlight {
	at := func(d time.Duration) time.Time { return clitest.Now.Add(-d) }
	return []governor.ParkedFlight{
		{Flight: "01956a3e-0001", BusinessID: "7\u202e", Gate: "crm:acme/contact-sync", Reason: settle.ReasonHoldBudget, Evidence: "503",
			ParkedAt: at(2 * time.Hour), Holds: settle.Holds{Transient: 3}, Replays: 1, Size: 512},
		{Flight: "01956a3e-0002", Gate: "crm:acme/contact-sync", Reason: settle.ReasonGateFault, Evidence: clitest.Evil, Charter: "run-1", ParkedAt: at(time.Hour)},
		{Flight: "01956a3e-0003", BusinessID: "9", Gate: "crm:acme/company-sync", Reason: settle.ReasonGateFault, Evidence: clitest.Evil, ParkedAt: at(time.Minute)},
	}
}

type fakeList struct {
	got   governor.ParkedFilter
	empty bool
	err   error
}

func (f *fakeList) Shelved(_ context.Context, _ governor.Shelf, _ string, filter governor.ParkedFilter) ([]governor.ParkedFlight, error) {
	f.got = filter
	if f.empty {
		return nil, f.err
	}
	return flights(), f.err
}

func TestAListOfAPartSaysSo(t *testing.T) {
	for _, empty := range []bool{false, true} {
		for _, by := range []string{"", "reason"} {
			c := clitest.New(t, "")
			f := &fakeList{empty: empty, err: fmt.Errorf("%w: dana has the rest", governor.ErrPartial)}
			opts := &ListOptions{Factory: c.Factory, Noun: Parked, Open: func(context.Context) (lister, error) { return f, nil },
				chosen: chosen{Scope: "crm:acme"}, GroupBy: by}
			if err := runList(t.Context(), opts); exit.Code(err) != exit.Partial {
				t.Errorf("empty %v: %v, want code 6", empty, err)
			}
			if (c.Out.Len() == 0) != empty || strings.Contains(c.Err.String(), "nothing is parked") {
				t.Errorf("empty %v: stdout %q, stderr %q", empty, c.Out, c.Err)
			}
		}
	}
}

func run(t *testing.T, f *fakeList, format render.Format, groupBy string, limit int) clitest.Cmd {
	t.Helper()
	c := clitest.New(t, "")
	c.Output = format
	opts := &ListOptions{Factory: c.Factory, Noun: Parked, Open: func(context.Context) (lister, error) { return f, nil },
		chosen: chosen{Scope: "crm:acme", Filter: governor.ParkedFilter{Limit: limit}}, GroupBy: groupBy}
	if err := runList(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestList(t *testing.T) {
	for name, format := range map[string]render.Format{"list.txt": render.AsTable, "list.json": render.AsJSON, "list.jsonl": render.AsJSONL} {
		clitest.Golden(t, name, run(t, &fakeList{}, format, "", 0).Out.Bytes())
	}
}

func TestGroups(t *testing.T) {
	clitest.Golden(t, "by-reason.txt", run(t, &fakeList{}, render.AsTable, "reason", 0).Out.Bytes())
	clitest.Golden(t, "by-evidence.json", run(t, &fakeList{}, render.AsJSON, "evidence", 0).Out.Bytes())
	clitest.Golden(t, "by-charter.txt", run(t, &fakeList{}, render.AsTable, "charter", 0).Out.Bytes())
}

func TestALimitOnGroupsCountsEveryFlight(t *testing.T) {
	f := &fakeList{}
	c := run(t, f, render.AsJSONL, "reason", 1)
	if f.got.Limit != 0 {
		t.Errorf("asked for %d flights: a group's count would be of what was looked at", f.got.Limit)
	}
	if n := strings.Count(c.Out.String(), "\n"); n != 1 || !strings.Contains(c.Err.String(), "1 more group") {
		t.Errorf("%d groups, stderr %q: want one, and a word about the rest", n, c.Err)
	}
}

func TestAnEmptyListIsAList(t *testing.T) {
	if c := run(t, &fakeList{empty: true}, render.AsJSON, "", 0); c.Out.String() != "[]\n" {
		t.Errorf("got %q", c.Out)
	}
	if c := run(t, &fakeList{empty: true}, render.AsJSON, "reason", 0); c.Out.String() != "[]\n" {
		t.Errorf("groups: got %q", c.Out)
	}
	c := run(t, &fakeList{empty: true}, render.AsTable, "", 0)
	if c.Out.Len() > 0 || c.Err.String() != "nothing is parked at crm:acme that matches\n" {
		t.Errorf("stdout %q, stderr %q", c.Out, c.Err)
	}
}

// typed splits a command line at its blanks; two quotes are an empty word, as of a
// variable that is not set.
func typed(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if w == "''" {
			words[i] = ""
		}
	}
	return words
}

func TestAnEmptyFilterSaysWhatToDo(t *testing.T) {
	cmd := NewDiscard(clitest.New(t, "").Factory, Parked, func(context.Context, *MoveOptions) error { t.Error("it ran"); return nil })
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(typed("crm:acme --flight '' --confirm crm:acme"))
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "--flight is empty, and would choose all: give it a value, or leave it out") {
		t.Errorf("got %v", err)
	}
}

func TestFiltersParse(t *testing.T) {
	for args, code := range map[string]int{
		"crm:acme": 0, "crm:acme/g --reason gate_fault --older-than 7d --limit 5 --evidence ^4 --charter r --flight f --business-id b": 0,
		"crm:acme --group-by evidence": 0, "crm:acme --gate g": 0, "crm:acme --gate crm:acme/g": 0, "crm:acme/g --gate g": 0,
		"": 2, "a/b/c": 2, "crm:acme --reason NOPE": 2, "crm:acme --group-by colour": 2, "crm:acme --limit -1": 2,
		"crm:acme --limit 0": 2, "crm:acme --older-than 0s": 2, "crm:acme --older-than 999999d": 2, "crm:acme --older-than 36500d": 0,
		"crm:acme --gate ''": 2, "crm:acme --reason ''": 2, "crm:acme --charter ''": 2, "crm:acme --flight ''": 2, "crm:acme --business-id ''": 2,
		"crm:acme --older-than ''": 2, "crm:acme --evidence ''": 2, "crm:acme --group-by ''": 2, "crm:acme --business-id 0": 0,
		"crm:acme --gate other/g": 2, "crm:acme/g --gate h": 2, "crm:acme --evidence (": 2,
	} {
		for _, noun := range []Noun{Parked, Rejected} {
			wantCode := code
			if noun.Shelf == governor.RejectedShelf && strings.Contains(args, "gate_fault") {
				wantCode = 2 // nothing is rejected for that
			}
			cmd := NewList(clitest.New(t, "").Factory, noun, func(_ context.Context, o *ListOptions) error {
				f := o.Filter
				if strings.Contains(args, "gate_fault") && (f.Reason != settle.ReasonGateFault || f.OlderThan != 7*24*time.Hour || f.Limit != 5 ||
					!f.Evidence.MatchString("404") || f.Charter != "r" || f.Flight != "f" || f.BusinessID != "b") {
					t.Errorf("%q: got %+v", args, f)
				}
				if strings.Contains(args, "--gate") && o.Scope != "crm:acme/g" {
					t.Errorf("%q: scope %s", args, o.Scope)
				}
				return nil
			})
			cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%w", err) })
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetOut(io.Discard)
			cmd.SetArgs(typed(args))
			if err := cmd.ExecuteContext(t.Context()); exit.Code(err) != wantCode {
				t.Errorf("%s %q: %v, want code %d", noun.Name(), args, err, wantCode)
			}
		}
	}
}
