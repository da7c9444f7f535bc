//go:build unix

package e2e

import (
	"encoding/json"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// envMany says how many flights the shelves are filled with.
const envMany = "TRACTION_TEST_SHELVED"

// many is enough for a command to be in the middle of it.
func many(t *testing.T) int {
	if v := os.Getenv(envMany); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("%s: %v", envMany, err)
		}
		return n
	}
	return 8000
}

// outstanding is the most that a replay has in hand unacknowledged with its copies
// sent: three steps of 500.
const outstanding = 3 * 500

// move is what a replay or a discard prints.
type move struct {
	Planned int            `json:"planned"`
	Moved   int            `json:"moved"`
	Skipped map[string]int `json:"skipped"`
	Left    int            `json:"left"`
}

func readMove(t *testing.T, out string) (m move) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatalf("it printed %q: %v", out, err)
	}
	sum := m.Moved + m.Left
	for _, n := range m.Skipped {
		sum += n
	}
	if sum != m.Planned {
		t.Errorf("moved, skipped and left are %d, and planned is %d: %+v", sum, m.Planned, m)
	}
	return m
}

// again runs a verb as soon as the lock of a killed one has ended.
func (s *site) again(args ...string) move {
	s.t.Helper()
	var out, errs string
	var code int
	if !eventually(func() bool {
		out, errs, code = s.ctl("", append(args, "-o", "json")...)
		return code != 4
	}) || code != 0 {
		s.t.Fatalf("%v: exit %d\n%s%s", args, code, out, errs)
	}
	return readMove(s.t, out)
}

func TestAReplayThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.declare()
	n := many(t)
	s.shelve("c", 0, n)
	o := s.operate(nil, "parked", "replay", contacts, "--rate", strconv.Itoa(n/2))
	s.until("the replay to be in the middle", func() bool { return s.look().Runway >= n/4 })
	if code := o.ends(syscall.SIGKILL); code != -1 {
		t.Fatalf("it ended by itself, with %d\n%s%s", code, o.out, o.err)
	}
	s.until("what it had in hand to be back", func() bool {
		a := s.look()
		return a.Runway+a.Parked >= n && a.Parked > 0
	})
	// With copies on the runway that is so before the last of it is back.
	here := s.steady(func() int { a := s.look(); return a.Runway + a.Parked })
	if too := here - n; too > outstanding {
		t.Errorf("%d copies too many, want %d at most", too, outstanding)
	}
	parked := s.look().Parked
	if m := s.again("parked", "replay", contacts); m.Moved != parked || m.Planned != parked || m.Left != 0 {
		t.Errorf("again it says %+v, want all of the %d that were left", m, parked)
	}
	_, left, twice := s.emptied(0)
	if len(left) > 0 || twice != here-n {
		t.Errorf("%d are left, and %d copies too many; want none, and %d as before", len(left), twice, here-n)
	}
}

func TestAnInterruptedReplayCountsAndGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.declare()
	n := many(t)
	s.shelve("c", 0, n)
	o := s.operate(nil, "parked", "replay", contacts, "--rate", strconv.Itoa(n/2), "-o", "json")
	s.until("the replay to be in the middle", func() bool { return s.look().Runway >= n/8 })
	if code := o.ends(syscall.SIGINT); code != 130 {
		t.Fatalf("exit %d, want 130\n%s%s", code, o.out, o.err)
	}
	first := readMove(t, o.out.String())
	if first.Planned != n || first.Moved == 0 || first.Left == 0 {
		t.Errorf("in the middle it says %+v", first)
	}
	s.until("the runway and the shelf to be what it said", func() bool {
		a := s.look()
		return a.Runway == first.Moved && a.Parked == first.Left
	})
	if m := s.again("parked", "replay", contacts); m.Planned != first.Left || m.Moved != first.Left {
		t.Errorf("again it says %+v, want the %d that were left", m, first.Left)
	}
	if _, left, twice := s.emptied(0); len(left)+twice > 0 {
		t.Errorf("%d are left and %d are there twice", len(left), twice)
	}
}

func TestAnInterruptedDiscardCountsAndGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.declare()
	n := many(t)
	s.shelve("c", 0, n)
	// A store that is far away makes each step long enough to be in the middle of.
	far := distant(t, strings.TrimSuffix(strings.TrimPrefix(s.redis, "redis://"), "/0"), 150*time.Millisecond)
	o := s.operate([]string{"TRACTION_REDIS_URL=redis://" + far + "/0"}, "parked", "discard", contacts, "--confirm", contacts, "-o", "json", "--timeout", "60s")
	// The broker counts what is ready, without the 4,000 that the command has in hand.
	ch, shelf := s.channel(), wire.Namespace(s.ns).Parked(wire.Scope{Airport: "crm:acme", Gate: "contacts"})
	s.until("the discard to be in the middle", func() bool {
		q, err := ch.QueueDeclarePassive(shelf, true, false, false, false, nil)
		return err == nil && q.Messages <= n-4000-n/8
	})
	if code := o.ends(syscall.SIGINT); code != 130 {
		t.Fatalf("exit %d, want 130\n%s%s", code, o.out, o.err)
	}
	first := readMove(t, o.out.String())
	if first.Planned != n || first.Moved == 0 || first.Left == 0 {
		t.Errorf("in the middle it says %+v", first)
	}
	s.until("what it left to be back", func() bool { return s.look().Parked == first.Left })
	if m := s.again("parked", "discard", contacts, "--confirm", contacts, "--older-than", "1h"); m.Skipped["filter"] != first.Left || m.Moved != 0 {
		t.Errorf("one that matches nothing says %+v", m)
	}
	s.until("what it looked at to be back", func() bool { return s.look().Parked == first.Left })
	if m := s.again("parked", "discard", contacts, "--confirm", contacts); m.Planned != first.Left || m.Moved != first.Left {
		t.Errorf("again it says %+v, want the %d that were left", m, first.Left)
	}
	if runway, left, _ := s.emptied(n); len(runway)+len(left) > 0 {
		t.Errorf("%d fly and %d are left, want none", len(runway), len(left))
	}
}

// What another client has in hand is not missed in silence by any command.
func TestAShelfInOtherHandsIsTold(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.declare()
	const n = 20
	s.shelve("c", 0, n)
	flight := asJSON[[]struct {
		Flight string `json:"flight"`
	}](s, "parked", "list", contacts)[0].Flight
	ch := s.channel()
	if err := ch.Qos(n, 0, false); err != nil {
		t.Fatal(err)
	}
	shelf := wire.Namespace(s.ns).Parked(wire.Scope{Airport: "crm:acme", Gate: "contacts"})
	ds, err := ch.Consume(shelf, "", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		<-ds
	}
	for _, args := range [][]string{{"list", contacts}, {"show", contacts, flight}, {"replay", contacts}, {"replay", contacts, "--dry-run"}, {"discard", contacts, "--confirm", contacts}} {
		out, errs, code := s.ctl("", append([]string{"parked"}, args...)...)
		if code != 6 || strings.Contains(errs, "nothing is parked") || !strings.Contains(errs, "somebody else") || strings.Contains(out, "left 0") {
			t.Errorf("parked %v: exit %d, %q\n%s", args, code, out, errs)
		}
	}
	if a := s.look(); a.Parked != governor.Unread {
		t.Errorf("%d are parked, and nobody can count them", a.Parked)
	}
	if err := ch.Close(); err != nil {
		t.Fatal(err)
	}
	s.until("all to be counted again", func() bool { return s.look().Parked == n })
	if m := s.again("parked", "replay", contacts); m.Moved != n || m.Left != 0 {
		t.Errorf("afterwards it says %+v", m)
	}
}

func TestLookingTakesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.declare()
	ids := s.shelve("c", 0, 300)
	for i := range 30 {
		var got []string
		for _, p := range asJSON[[]struct {
			ID string `json:"business_id"`
		}](s, "parked", "list", contacts) {
			got = append(got, p.ID)
		}
		if !slices.Equal(got, ids) {
			t.Fatalf("look %d shows %d flights, not the %d in their order: %.200q", i+1, len(got), len(ids), got)
		}
	}
	// Nor does a discard that nobody has confirmed, whatever it is told instead.
	for _, confirm := range [][]string{nil, {"--confirm", ""}, {"--confirm", airport}, {"--confirm", contacts + " "}, {"--confirm", strings.ToUpper(contacts)}, {"--confirm", "yes"}} {
		out, errs, code := s.ctl("", append([]string{"parked", "discard", contacts}, confirm...)...)
		if code != 4 || out != "" || !strings.Contains(errs, "nothing was dropped") {
			t.Errorf("discard %q: exit %d, %q\n%s", confirm, code, out, errs)
		}
	}
	s.until("the last look to have given back what it held", func() bool { return s.look().Parked == len(ids) })
	if runway, parked, _ := s.emptied(0); len(runway) > 0 || !slices.Equal(parked, ids) {
		t.Errorf("%d fly; the shelf has %d, in another order than before: %.200q", len(runway), len(parked), parked)
	}
}

// distant is a server as seen from afar: what is asked arrives late.
func distant(t *testing.T, addr string, late time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	pass := func(to, from net.Conn, late time.Duration) {
		defer all.Done()
		defer to.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := from.Read(b)
			if err != nil {
				return
			}
			if late > 0 {
				<-time.After(late)
			}
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
	}
	all.Add(1)
	go func() {
		defer all.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", addr)
			if err != nil {
				c.Close()
				continue
			}
			mu.Lock()
			open = append(open, c, up)
			mu.Unlock()
			all.Add(2)
			go pass(up, c, late)
			go pass(c, up, 0)
		}
	}()
	return l.Addr().String()
}
