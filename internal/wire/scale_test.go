package wire_test

import (
	"testing"

	"github.com/traction-go/traction/internal/wire"
)

func TestScale(t *testing.T) {
	for s, want := range map[wire.Scale][2]int{
		"": {4, 25}, ":": {4, 25}, "8:": {8, 25}, ":1": {4, 1}, "0:1": {0, 1}, "8": {4, 25}, "x:y": {4, 25}, "-1:-1": {4, 25}, "1:2:3": {4, 25},
	} {
		if got := [2]int{s.Workers(4), s.Batch(25)}; got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}
