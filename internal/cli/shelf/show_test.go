package shelf

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

type fakeShow struct{ payload []byte }

func (f fakeShow) ShowShelved(_ context.Context, s governor.Shelf, gate, flight string) (governor.ShelvedFlight, error) {
	if flight == "hidden" {
		return governor.ShelvedFlight{}, fmt.Errorf("flight hidden: %w", governor.ErrPartial)
	}
	if flight == "gone" {
		return governor.ShelvedFlight{}, fmt.Errorf("flight gone: %w", governor.ErrNotFound)
	}
	return governor.ShelvedFlight{ParkedFlight: flights()[0], Payload: f.payload, ContentType: "application/json", Headers: map[string]any{
		"tr-scope": "crm:acme/contact-sync", "x-delivery-count": int64(3), "tenant": "acme\x1b[2J", "retries": int64(7),
	}}, nil
}

func showing(t *testing.T, payload, flight string, set func(*ShowOptions)) (clitest.Cmd, error) {
	t.Helper()
	c := clitest.New(t, "")
	opts := &ShowOptions{Factory: c.Factory, Noun: Parked, Open: func(context.Context) (shower, error) { return fakeShow{[]byte(payload)}, nil },
		Gate: "crm:acme/contact-sync", Flight: flight}
	if set != nil {
		set(opts)
	}
	return c, runShow(t.Context(), opts)
}

const evilPayload = "{\"id\": 7,\n \"name\": \"\x1b]0;pwned\a\xff\u202e\"}"

func TestShow(t *testing.T) {
	for name, set := range map[string]func(*ShowOptions){
		"show.txt": nil, "show.json": func(o *ShowOptions) { o.Output = render.AsJSON },
	} {
		c, err := showing(t, evilPayload, "01956a3e-0001", set)
		if err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, name, c.Out.Bytes())
		for _, raw := range []string{"\x1b", "\a", "\u202e", "\xff"} {
			if strings.Contains(c.Out.String(), raw) {
				t.Errorf("%s: %q reached the terminal", name, raw)
			}
		}
	}
}

func TestRawIsEveryByteAndNothingElse(t *testing.T) {
	payload := evilPayload + strings.Repeat("x", 2*maxShown)
	c, err := showing(t, payload, "f", func(o *ShowOptions) { o.Raw = true })
	if err != nil || c.Out.String() != payload {
		t.Errorf("%v, %d bytes, want %d", err, c.Out.Len(), len(payload))
	}
}

func TestALongPayloadIsBounded(t *testing.T) {
	c, err := showing(t, strings.Repeat("x", maxShown+1234), "f", nil)
	if err != nil || strings.Count(c.Out.String(), "x") > maxShown+10 || !strings.Contains(c.Out.String(), "1,234 bytes more: --raw") {
		t.Errorf("%v: %d bytes were printed", err, c.Out.Len())
	}
}

func TestAFlightThatIsNotThere(t *testing.T) {
	_, err := showing(t, "", "gone", nil)
	if exit.Code(err) != exit.NotFound {
		t.Errorf("got %v", err)
	}
	if _, err = showing(t, "", "hidden", nil); exit.Code(err) != exit.Partial {
		t.Errorf("in other hands: got %v", err)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"01956a3e-0001": "01956a3e-0001", "": "''", "a b": "'a b'", "a'b": `'a'\''b'`, "$(x)": "'$(x)'"} {
		if got := quote(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
