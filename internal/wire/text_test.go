package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/wire"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"crm:acme/company-sync":   "crm:acme/company-sync",
		"Zoë Ångström 東京 مرحبا 🙂": "Zoë Ångström 東京 مرحبا 🙂",
		"two\nlines\r\n\ttab":     `two\nlines\r\n\ttab`,
		"\x00\x07\x1b[2J\x7f":     `\x00\x07\x1b[2J\x7f`,
		"\u009b31m":               `\x9b31m`,
		"\x80\xff":                `\x80\xff`,
		"a\xc3":                   `a\xc3`,
		"user\u202etxt.exe":       `user\u202etxt.exe`,
		"a\u200bb\u2066c\ufeffd":  `a\u200bb\u2066c\ufeffd`,
		"soft\u00adhyphen":        `soft\u00adhyphen`,
		"line\u2028end":           `line\u2028end`,
		"fill\u3164er":            `fill\u3164er`,
		"tag\U000e0041":           `tag\U000e0041`,
		"pick\ufe0f\U000e0100":    `pick\ufe0f\U000e0100`,
		"real \ufffd":             "real \ufffd",
		`literal \x1b`:            `literal \x1b`,
	} {
		if got := wire.Visible(in); got != want {
			t.Errorf("Visible(%q)\n got %s\nwant %s", in, got, want)
		}
	}
}

// Text cannot be shown unsafely by the usual ways of showing.
func TestTextShows(t *testing.T) {
	evil := wire.Text("a\x1b[2J\u202eb\xff")
	want := `a\x1b[2J\u202eb\xff`
	for _, got := range []string{evil.String(), fmt.Sprint(evil), fmt.Sprintf("%v|%s", evil, evil)} {
		for part := range strings.SplitSeq(got, "|") {
			if part != want {
				t.Errorf("shown as %q", part)
			}
		}
	}
	raw, err := json.Marshal(map[string]wire.Text{"id": evil})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(raw, &back); err != nil || back["id"] != want {
		t.Errorf("%s reads as %q, %v", raw, back["id"], err)
	}
	if wire.Text("").String() != "" {
		t.Error("the empty text is not empty")
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[31m\u202e\x80\xff\u009b", "a\u200b\ufeff\U000e0041", `\x1b`, "\xf0\x9f\x99"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := wire.Visible(s)
		checkVisible(t, got)
		if again := wire.Visible(got); again != got {
			t.Errorf("twice: %q, then %q", got, again)
		}
		if len(got) < len(s) {
			t.Errorf("%q lost something: %q", s, got)
		}
		if back := wire.Text(s).String(); back != got {
			t.Errorf("Text shows %q, Visible %q", back, got)
		}
	})
}
