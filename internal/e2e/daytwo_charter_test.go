//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/charter"
	"github.com/traction-go/traction/pkg/governor"
)

// books of a run, as tractionctl tells them.
type runBooks struct {
	State     string `json:"state"`
	Expected  int    `json:"expected"`
	Landed    int    `json:"landed"`
	Rejected  int    `json:"rejected"`
	Skipped   int    `json:"skipped"`
	Parked    int    `json:"parked"`
	Discarded int    `json:"discarded"`
	Pending   int    `json:"pending"`
}

func TestACharterIsExactWhateverIsKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	const seats, kills = 3000, 6
	s.vendor.saying(func(c call) answer {
		wait := make(chan struct{})
		time.AfterFunc(5*time.Millisecond, func() { close(wait) })
		return answer{status: 200, wait: wait}
	})
	file := s.config("traction.yaml", oneGate)
	fleet := s.start(3, file)
	s.becomes(wire.Open)
	var in strings.Builder
	for i := range seats {
		id := fmt.Sprintf("c%d", i)
		fmt.Fprintf(&in, `{"id":%q}`+"\n", id)
		s.sent[id] = true
	}
	if out, errs, code := s.ctl(in.String(), "dispatch", contacts, "--business-id", "/id", "--charter", "import", "--expected", fmt.Sprint(seats)); code != 0 {
		t.Fatalf("dispatch: exit %d\n%s%s", code, out, errs)
	}
	for i := range kills {
		s.vendor.lands(t, (i+1)*seats/(2*kills))
		s.until("calls in the air", func() bool { return s.vendor.air() > 0 })
		fleet[0].kill()
		fleet = append(fleet[1:], s.start(1, file)...)
		s.until("the suspects to have flown", func() bool {
			list, err := s.gov.Suspects(t.Context(), airport)
			return err == nil && !slices.ContainsFunc(list, func(x governor.SuspectInfo) bool { return x.Verdict == "SUSPECT" })
		})
	}
	run := contacts + "/import"
	var b runBooks
	s.until("the run to be complete", func() bool { b = asJSON[runBooks](s, "charter", "show", run); return b.State == "COMPLETE" })
	// A flight that is alone in the air at a second kill is parked as a pill, which is a
	// known limit: it waits for a human, and the books say so.
	convicted := b.Parked
	if convicted > kills {
		t.Errorf("%d flights were convicted under %d kills", convicted, kills)
	}
	if want := (runBooks{State: "COMPLETE", Expected: seats, Landed: seats - convicted, Parked: convicted}); b != want {
		t.Errorf("the books are %+v, want %+v", b, want)
	}
	if n := len(s.vendor.landed()); n < seats-convicted {
		t.Errorf("the vendor has taken %d of %d records", n, seats)
	}
	// Only what was in the air at a kill can have been called twice.
	if calls := s.vendor.count(); calls > seats+kills*4 {
		t.Errorf("%d calls for %d records under %d kills of 4 in the air", calls, seats, kills)
	}
	s.hook.tells(t, 1, wire.CharterComplete)
	left := s.close(false)
	if len(left.queued)+len(left.rejected) > 0 || len(left.parked) != convicted {
		t.Errorf("left behind: %d queued, %d parked of %d convicted, %d rejected", len(left.queued), len(left.parked), convicted, len(left.rejected))
	}
	s.hook.once(t, wire.CharterComplete, 1)
}

func TestAMillionSeatsFitIntoAMegabyte(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.declare()
	ctx := t.Context()
	st, err := store.Open(store.Config{URLs: []string{s.redis}, Namespace: wire.Namespace(s.ns)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	const seats = 1_000_000
	desk := st.Airport(airport, "test", "contacts")
	if o, err := desk.OpenCharter(ctx, "contacts", "import", seats, "dana"); err != nil || o.Result != store.CharterOK {
		t.Fatal(o, err)
	}
	d := charter.NewDigester()
	for i := range seats {
		if full := d.Add(charter.Identity(fmt.Sprintf("record-%d", i), nil)); full || i == seats-1 {
			b, _ := d.Block()
			if r, err := desk.PutDigest(ctx, "contacts", "import", b, ""); err != nil || r != store.CharterOK {
				t.Fatal(r, err)
			}
		}
	}
	// A seat of each block is taken, the last one too: what is written into the bits
	// must not make them grow.
	for first := 0; first < seats; first += charter.BlockSeats {
		last := min(first+charter.BlockSeats, seats) - 1
		if n, r, err := desk.MarkDispatched(ctx, "contacts", "import", []int{first, last}); err != nil || r != store.CharterOK || n != 2 {
			t.Fatal(n, r, err)
		}
	}
	o, err := redis.ParseURL(s.redis)
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(o)
	defer rdb.Close()
	var total int64
	keys := wire.Namespace(s.ns).Keys(airport)
	for name, key := range map[string]string{"books and digests": keys.Charter("contacts", "import"), "seats": keys.Seats("contacts", "import")} {
		n, err := rdb.MemoryUsage(ctx, key, 0).Result()
		if err != nil || n == 0 {
			t.Fatalf("%s: %d bytes, %v", name, n, err)
		}
		t.Logf("%s: %d bytes", name, n)
		total += n
	}
	if total > 1<<20 {
		t.Errorf("a run of %d seats takes %d bytes, want %d at most", seats, total, 1<<20)
	}
}
