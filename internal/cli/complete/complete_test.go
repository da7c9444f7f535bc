package complete

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/charter"
)

// fake is a store with two airports; asked are those it was asked about.
type fake struct {
	err   error
	asked *[]string
}

func (f fake) Airports(context.Context) ([]string, error) {
	return []string{"mail", "crm:acme", "crm:base"}, f.err
}

func (f fake) Snapshots(_ context.Context, airports ...string) (list []store.Snapshot, err error) {
	*f.asked = append(*f.asked, airports...)
	for _, a := range airports {
		at := func(gate string) wire.Status {
			return wire.Status{Scope: wire.Scope{Airport: a, Gate: gate}, State: wire.Stopped}
		}
		list = append(list, store.Snapshot{Airport: at(""), Gates: []wire.Status{at("contacts")}})
	}
	return list, nil
}

func (f fake) Incidents(_ context.Context, a string) ([]wire.Incident, error) {
	*f.asked = append(*f.asked, a)
	return []wire.Incident{
		{ID: a + "@1-0001", Scope: a, OpenedAt: 1, ClosedAt: 2, Reason: "dead\x1b[2J\ttoken"},
		{ID: a + "@5-0005", Scope: a, OpenedAt: 5, Reason: "again"},
	}, nil
}

func (f fake) Charters(_ context.Context, a string) ([]store.CharterStatus, error) {
	*f.asked = append(*f.asked, a)
	run := func(name string) store.CharterStatus {
		return store.CharterStatus{Scope: wire.Scope{Airport: a, Gate: "contacts", Run: name}, Books: charter.Books{Expected: 2, Landed: 1}}
	}
	done, lost := run("b-done"), run("c-lost")
	done.Books.Landed, lost.Lost = 2, true
	return []store.CharterStatus{run("a-open"), done, lost}, nil
}

func (f fake) Deaths(_ context.Context, a string) (map[string]string, error) {
	*f.asked = append(*f.asked, a)
	return map[string]string{"0199-" + a: "w@1", "0198-" + a: "w@1,v@2!i"}, nil
}

func TestOffers(t *testing.T) {
	for name, tt := range map[string]struct {
		kind  Kind
		typed string
		want  []string
		asked []string
	}{
		"airports":       {Airports, "crm", []string{"crm:acme\tSTOPPED", "crm:base\tSTOPPED"}, []string{"crm:acme", "crm:base"}},
		"gates":          {Gates, "crm:b", []string{"crm:base/contacts\tSTOPPED"}, []string{"crm:base"}},
		"gates of one":   {Gates, "mail/", []string{"mail/contacts\tSTOPPED"}, []string{"mail"}},
		"another gate":   {Gates, "mail/x", nil, []string{"mail"}},
		"scopes":         {Scopes, "mail", []string{"mail\tSTOPPED", "mail/contacts\tSTOPPED"}, []string{"mail"}},
		"none":           {Scopes, "x", nil, []string{"crm:acme", "crm:base", "mail"}},
		"none below":     {Scopes, "x/", nil, nil},
		"suspects":       {Suspects, "0199-crm", []string{"0199-crm:acme\tcrm:acme", "0199-crm:base\tcrm:base"}, []string{"crm:acme", "crm:base", "mail"}},
		"incidents":      {Incidents, "mail", []string{"mail\tits latest incident", "mail@5-0005\topen, again", "mail@1-0001\tclosed, dead" + wire.Visible("\x1b[2J\t") + "token"}, []string{"mail"}},
		"incidents of 1": {Incidents, "mail@5", []string{"mail@5-0005\topen, again"}, []string{"mail"}},
		"charters": {Charters, "mail", []string{"mail/contacts/a-open\topen", "mail/contacts/b-done\tcomplete", "mail/contacts/c-lost\tlost"},
			[]string{"mail"}},
	} {
		var asked []string
		if got := offer(t.Context(), fake{asked: &asked}, tt.kind, tt.typed); !slices.Equal(got, tt.want) || !slices.Equal(asked, tt.asked) {
			t.Errorf("%s: %q, having asked %q; want %q and %q", name, got, asked, tt.want, tt.asked)
		}
	}
	if got := offer(t.Context(), fake{err: errors.New("away")}, Airports, ""); len(got) > 0 {
		t.Errorf("a store that is away gives %q", got)
	}
}

// A store that takes connections and never answers costs no more than the patience,
// and nothing is said about it.
func TestIsBoundedAndSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); _, _ = io.Copy(io.Discard, c) }()
		}
	}()
	for _, url := range []string{"redis://" + l.Addr().String(), "redis://127.0.0.1:1", "http://nonsense", "redis://name\x00"} {
		c := clitest.New(t, "")
		c.Flags.Redis = []string{url}
		cmd := &cobra.Command{}
		began := time.Now()
		got, directive := First(c.Factory, Airports)(cmd, nil, "")
		if len(got) > 0 || directive != cobra.ShellCompDirectiveNoFileComp || c.Out.Len()+c.Err.Len() > 0 {
			t.Errorf("%q: %q, %v, stdout %q, stderr %q", url, got, directive, c.Out, c.Err)
		}
		if took := time.Since(began); took > 10*Patience { // a busy machine
			t.Errorf("%q took %v", url, took)
		}
	}
	c := clitest.New(t, "")
	if got, _ := First(c.Factory, Airports)(&cobra.Command{}, []string{"crm:acme"}, ""); len(got) > 0 {
		t.Errorf("a second argument is offered %s", strings.Join(got, " "))
	}
}
