package governor

import (
	"slices"
	"testing"
)

// What waits in a line comes out in its order, all of it, also after its end is told.
func TestALineKeepsItsOrder(t *testing.T) {
	q := newLine()
	var in, out []*job
	for range maxAloft {
		j := &job{}
		in = append(in, j)
		q.put(j) // none waits
	}
	close(q.ready)
	for range q.ready {
		out = append(out, q.take())
	}
	if !slices.Equal(in, out) {
		t.Fatalf("%d jobs in, %d out, or in another order", len(in), len(out))
	}
}
