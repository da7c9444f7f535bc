package settle_test

import (
	"strings"
	"testing"

	"github.com/traction-go/traction/pkg/settle"
)

func TestParseHolds(t *testing.T) {
	for in, want := range map[string]settle.Holds{
		"":                       {},
		"transient=2":            {Transient: 2},
		"internal=1":             {Internal: 1},
		"transient=2,internal=1": {Transient: 2, Internal: 1},
		"internal=1,transient=2": {Transient: 2, Internal: 1},
		"transient=0":            {},
		"transient=1000000":      {Transient: 1_000_000},
	} {
		if got, err := settle.ParseHolds(in); err != nil || got != want {
			t.Errorf("ParseHolds(%q) = %+v, %v; want %+v", in, got, err, want)
		}
	}
}

// What cannot be read is an error; were it zero, the budget would start again.
func TestParseHoldsRefuses(t *testing.T) {
	for _, in := range []string{
		" ", "transient", "transient=", "transient=x", "transient=-1", "transient=+1",
		"transient=1.0", "transient=0x1", "transient=1e3", "transient=1_0", "transient= 1",
		"transient=1000001", "transient=99999999999999999999", "TRANSIENT=1",
		"transient=1,", ",transient=1", "transient=1,,internal=1", "transient=1;internal=1",
		"transient=1,transient=1", "vendor=1", "=1", "transient==1", "transient=1\n",
		"transient=١", "\x1b[2J", "transient=1\x00", strings.Repeat("9", 300),
	} {
		got, err := settle.ParseHolds(in)
		if err == nil {
			t.Errorf("ParseHolds(%q) = %+v, want an error", in, got)
			continue
		}
		if strings.ContainsAny(err.Error(), "\x1b\n\x00") {
			t.Errorf("the error for %q carries it raw: %q", in, err)
		}
	}
}

func FuzzParseHolds(f *testing.F) {
	for _, s := range []string{"", "transient=2,internal=1", "internal=07", "transient=-0", "x=1", "transient=1,transient=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := settle.ParseHolds(s)
		if err != nil {
			if h != (settle.Holds{}) {
				t.Errorf("an error with %+v", h)
			}
			return
		}
		if h.Transient < 0 || h.Internal < 0 {
			t.Fatalf("ParseHolds(%q) = %+v", s, h)
		}
		if back, err := settle.ParseHolds(h.String()); err != nil || back != h {
			t.Errorf("%q reads as %+v, writes as %q, reads back as %+v, %v", s, h, h, back, err)
		}
	})
}
