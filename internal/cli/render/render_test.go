package render

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func table() Table {
	return Table{
		Columns: []Column{{Name: "AIRPORT"}, {Name: "PARKED", Right: true}, {Name: "EVIDENCE", Flex: true}},
		Rows: [][]string{
			{"crm:acme", "1,204", "401 \x1b[31minvalid\n_grant with a long tail of words"},
			{"mail", "0", ""},
		},
	}
}

func TestTablePiped(t *testing.T) {
	var b bytes.Buffer
	if err := table().Write(&b, 0, Palette{}); err != nil {
		t.Fatal(err)
	}
	want := "AIRPORT   PARKED  EVIDENCE\n" +
		`crm:acme   1,204  401 \x1b[31minvalid\n_grant with a long tail of words` + "\n" +
		"mail           0  -\n"
	if b.String() != want {
		t.Fatalf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	var b bytes.Buffer
	if err := table().Write(&b, 40, Palette{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 40 {
			t.Errorf("%d cells, want at most 40: %q", n, line)
		}
	}
	if !strings.Contains(b.String(), "…") {
		t.Errorf("nothing shows that the evidence was cut:\n%s", b.String())
	}
}

func TestANarrowTerminalLeavesOutSpareColumns(t *testing.T) {
	tab := table()
	tab.Columns[1].Spare = true
	tab.Style = func(_, c int) Style {
		if c == 2 {
			return Bold
		}
		return Plain
	}
	var b bytes.Buffer
	if err := tab.Write(&b, 24, Palette{Color: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "PARKED") || !strings.Contains(b.String(), "\x1b[1m401") {
		t.Errorf("want no PARKED, and EVIDENCE as it was styled:\n%q", b.String())
	}
	b.Reset()
	if err := tab.Write(&b, 0, Palette{}); err != nil || !strings.Contains(b.String(), "PARKED") {
		t.Errorf("piped, every column is there (%v):\n%s", err, b.String())
	}
}

func TestListIsAlwaysAnArray(t *testing.T) {
	var b bytes.Buffer
	if err := List[int](&b, AsJSON, nil); err != nil || b.String() != "[]\n" {
		t.Fatalf("got %q, %v, want []", b.String(), err)
	}
	b.Reset()
	if err := List[int](&b, AsJSONL, nil); err != nil || b.String() != "" {
		t.Fatalf("got %q, %v, want nothing", b.String(), err)
	}
	if err := List(&b, AsJSONL, []Count{1, -1}); err != nil || b.String() != "1\nnull\n" {
		t.Fatalf("got %q, %v, want a line each", b.String(), err)
	}
}

func TestTimes(t *testing.T) {
	at := time.Date(2026, 3, 4, 3, 11, 9, 123456789, time.FixedZone("", 3600))
	var b bytes.Buffer
	if err := One(&b, AsJSONL, []Time{Time(at), {}}); err != nil {
		t.Fatal(err)
	}
	if want := "[\"2026-03-04T02:11:09Z\",null]\n"; b.String() != want {
		t.Errorf("got %s want %s", b.String(), want)
	}
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 45 * time.Second: "45s", 75 * time.Second: "1m15s", 14*time.Minute + 3*time.Second: "14m",
		185 * time.Minute: "3h5m", 52*time.Hour + 10*time.Minute: "2d4h",
	} {
		if got := Ago(at.Add(d), at); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
	if Count(-1).String() != "?" {
		t.Errorf("an unread count shows as %q", Count(-1))
	}
}

func TestFieldsWrapOnATerminalOnly(t *testing.T) {
	f := []Field{{Name: "why", Value: strings.Repeat("word ", 20) + "end"}, {Name: "evidence", Value: ""}}
	var b bytes.Buffer
	_ = Fields(&b, f, 0, Palette{})
	if strings.Count(b.String(), "\n") != 1 {
		t.Errorf("piped, one field is one line:\n%s", b.String())
	}
	b.Reset()
	_ = Fields(&b, f, 40, Palette{})
	for line := range strings.Lines(b.String()) {
		if len(line) > 41 {
			t.Errorf("too wide: %q", line)
		}
	}
}

// A field that was not made visible before does no harm either.
func TestFieldsAreVisible(t *testing.T) {
	var b bytes.Buffer
	_ = Fields(&b, []Field{{Name: "id", Value: "a\xff\x1b[2J\nb"}, {Name: "shown", Value: `a\xff`}}, 0, Palette{})
	if want := "id     a\\xff\\x1b[2J\\nb\nshown  a\\xff\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestPaint(t *testing.T) {
	if got := (Palette{}).Paint(Alarm, "STOPPED"); got != "STOPPED" {
		t.Errorf("without colour: %q", got)
	}
	if got := (Palette{Color: true}).Paint(Alarm, "STOPPED"); got != "\x1b[1;38;5;208mSTOPPED\x1b[0m" {
		t.Errorf("with colour: %q", got)
	}
}
