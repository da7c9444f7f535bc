package render

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	for _, tt := range []struct {
		done, total, width int
		took               time.Duration
		want               string
	}{
		{0, 900, 80, 0, "replayed [..............................] 0 of 900"},
		{450, 900, 80, 500 * time.Millisecond, "replayed [###############...............] 450 of 900"},
		{1500, 3000, 80, 3 * time.Second, "replayed [###############...............] 1,500 of 3,000  500/s  3s to go"},
		{900, 900, 80, 2 * time.Second, "replayed [##############################] 900 of 900  450/s"},
		{901, 900, 80, 0, "replayed [##############################] 901 of 901"},
		{450, 900, 30, 0, "replayed 450 of 900"},
		{450, 900, 12, 0, "replayed 45"},
		{0, 0, 80, 0, "replayed 0 of 0"},
	} {
		if got := bar("replayed", tt.done, tt.total, tt.took, tt.width); got != tt.want {
			t.Errorf("%d of %d in %d cells:\ngot  %s\nwant %s", tt.done, tt.total, tt.width, got, tt.want)
		}
	}
}

func TestProgressWritesOverItself(t *testing.T) {
	var b bytes.Buffer
	now := time.Date(2026, 3, 4, 2, 0, 0, 0, time.UTC)
	p := Progress{W: &b, Now: func() time.Time { return now }}
	p.Show("x", 1, 3)
	p.Show("x", 2, 3) // too soon
	now = now.Add(barEvery)
	p.Show("x", 2, 3)
	p.Show("x", 3, 3) // the last is always shown
	p.Clear()
	p.Clear()
	if n := strings.Count(b.String(), "\r\x1b[K"); n != 4 || strings.Contains(b.String(), "\n") || !strings.HasSuffix(b.String(), "3 of 3\r\x1b[K") {
		t.Errorf("%d: %q", n, b.String())
	}
	var zero Progress
	zero.Show("x", 1, 2)
	zero.Clear()
}
