package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestNarratorOnATerminal(t *testing.T) {
	var b bytes.Buffer
	n := &Narrator{W: &b, Live: true, Width: 40}
	n.Progress("1 of 3")
	n.Progress("2 of 3")
	n.Say("  a line that is wider than the terminal it is told on")
	want := "\r\x1b[K1 of 3\r\x1b[K2 of 3\r\x1b[K  a line that is wider than the\n    terminal it is told on\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}

func TestNarratorPiped(t *testing.T) {
	var b bytes.Buffer
	n := &Narrator{W: &b}
	long := "  " + strings.Repeat("word ", 40) + "end"
	n.Say("%s", long)
	for range 100 {
		n.Progress("far") // told every two seconds, not each time
	}
	if got := b.String(); got != long+"\n" {
		t.Errorf("got %q", got)
	}
	(&Narrator{}).Say("nobody listens")
}

func TestPeak(t *testing.T) {
	at := time.Now()
	c := &crm{}
	for _, ms := range []int{0, 10, 20, 500, 920, 925, 2000} {
		c.left = append(c.left, at.Add(time.Duration(ms)*time.Millisecond))
	}
	// 0ms to 900ms: four calls; 20ms to 920ms: three.
	if got := c.peak(900 * time.Millisecond); got != 4 {
		t.Errorf("peak %d, want 4", got)
	}
}
