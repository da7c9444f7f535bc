package governor

import (
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// Suspects that fly one after another may take as long as they like in all: only a
// drain that does not end is given up.
func TestManySuspectsAreNoLongDrain(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		o := &solo{g: &Governor{}}
		s := &station{log: slog.New(slog.DiscardHandler)}
		var suspects []*job
		for i := range 20 {
			j := &job{flight: wire.Flight{ID: strconv.Itoa(i)}}
			suspects = append(suspects, j)
			if !o.enter(s, j) {
				t.Fatal("a suspect did not join the session")
			}
		}
		for _, j := range suspects[1:] {
			if !o.take(j) {
				t.Fatal("a suspect had no turn though nothing is in the air")
			}
			time.Sleep(8 * time.Second)
			o.left(j)
			time.Sleep(time.Second)
			if o.late() {
				t.Fatal("the session is late while its suspects fly")
			}
		}
		time.Sleep(10 * time.Second)
		if !o.late() {
			t.Error("ten seconds without a turn, and no pilot's timeout to wait for: not late")
		}
	})
}
