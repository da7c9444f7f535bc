//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// patient is how long a pill may take from its dispatch to its shelf.
const patient = 2 * time.Minute

// supervised are workers that somebody starts again when they die, as an orchestrator
// does. Each calls the vendor under a path of its own, so that a call that kills can
// kill the one who makes it.
type supervised struct {
	s    *site
	wg   sync.WaitGroup
	mu   sync.Mutex
	now  map[string]*worker // by name
	over bool
	kill map[string]int // workers that each pill killed, by business id
}

// supervise starts n workers, with that many pilots, and keeps them running.
func (s *site) supervise(n, pilots int, heartbeat string, options ...string) *supervised {
	s.t.Helper()
	f := &supervised{s: s, now: map[string]*worker{}, kill: map[string]int{}}
	for i := range n {
		name := fmt.Sprintf("w%d", i+1)
		file := s.config(name+".yaml", fmt.Sprintf(`
  crm:acme:
    gates:
      contacts: {workers: %d, timeout: 20s, http: {url: "VENDOR/contacts/%s"}}
`, pilots, name), append([]string{"heartbeat: " + heartbeat}, options...)...)
		w := start(s.t, file)
		f.now[name] = w
		f.wg.Go(func() { f.watch(name, file, w) })
	}
	for _, w := range f.list() {
		w.ready()
	}
	s.t.Cleanup(f.end)
	return f
}

// watch starts a worker again whenever it ends.
func (f *supervised) watch(name, file string, w *worker) {
	for {
		<-w.done
		f.mu.Lock()
		if f.over {
			f.mu.Unlock()
			return
		}
		w = start(f.s.t, file)
		f.now[name] = w
		f.mu.Unlock()
	}
}

func (f *supervised) list() (ws []*worker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.now {
		ws = append(ws, w)
	}
	return ws
}

func (f *supervised) at(name string) *worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now[name]
}

// end stops watching and has the workers leave in good order.
func (f *supervised) end() {
	f.mu.Lock()
	over := f.over
	f.over = true
	f.mu.Unlock()
	if over {
		return
	}
	for _, w := range f.list() {
		if !w.gone() {
			w.term()
		}
	}
	f.wg.Wait()
}

// deadly is a vendor that kills who calls it for a business id that begins with "pill",
// and answers everybody else.
func (f *supervised) deadly(other func(call) answer) func(call) answer {
	return func(c call) answer {
		if !strings.HasPrefix(c.business, "pill") {
			return other(c)
		}
		f.mu.Lock()
		f.kill[c.business]++
		w := f.now[c.path[strings.LastIndexByte(c.path, '/')+1:]]
		f.mu.Unlock()
		_ = w.cmd.Process.Kill()
		return answer{status: 503, wait: w.done}
	}
}

func (f *supervised) killed() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.kill {
		n += k
	}
	return n
}

type suspect struct {
	Flight  string   `json:"flight"`
	Verdict string   `json:"verdict"`
	Workers []string `json:"workers"`
}

func (s *site) suspects() []suspect {
	s.t.Helper()
	return asJSON[[]suspect](s, "suspect", "list", airport)
}

// pillsParked waits until n pills are parked and all else has landed.
func (s *site) pillsParked(n, landings int) {
	s.t.Helper()
	// Runway and air are empty too while flights wait on the ten-second hold.
	if !within(patient, func() bool {
		a := s.look()
		return a.Parked >= n && a.Landed >= int64(landings) && a.InAir == 0 && s.parkedFlights() == n
	}) {
		s.t.Fatalf("waited %v for %d pills to be parked and the rest to land: %+v, suspects %+v", patient, n, s.look(), s.suspects())
	}
	if got := len(s.vendor.landed()); got != landings {
		s.t.Errorf("%d flights landed, want %d", got, landings)
	}
}

// parkedFlights counts those that are parked, each once: a pill's copy stands there twice
// where another pill killed the worker that had parked it and not acknowledged it yet.
func (s *site) parkedFlights() int {
	list, err := s.gov.Parked(s.t.Context(), contacts, governor.ParkedFilter{})
	if err != nil {
		s.t.Log("listing what is parked:", err)
		return governor.Unread
	}
	seen := map[string]bool{}
	for _, p := range list {
		seen[p.Flight] = true
	}
	return len(seen)
}

// convicted checks that exactly these were convicted, each told once and named.
func (s *site) convicted(b books, ids ...string) {
	s.t.Helper()
	s.hook.tells(s.t, len(ids), wire.PoisonPill)
	s.hook.once(s.t, wire.PoisonPill, len(ids))
	for _, id := range ids {
		if b.parkedWhy[id] != string(settle.ReasonPoisonPill) {
			s.t.Errorf("%s is parked as %q, want POISON_PILL", id, b.parkedWhy[id])
		}
		named := 0
		for _, n := range s.hook.of(wire.PoisonPill) {
			named += strings.Count(string(n.raw), `"`+id+`"`)
		}
		if named != 1 {
			s.t.Errorf("%s is named %d times in %+v", id, named, s.hook.of(wire.PoisonPill))
		}
	}
	if len(b.parked) != len(ids) {
		s.t.Errorf("parked %v, want the pills %v alone", b.parkedWhy, ids)
	}
}

func TestAPillKillsAtMostTwoWorkers(t *testing.T) {
	for _, pills := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d of them", pills), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			f := s.supervise(3, 6, "1s")
			s.vendor.saying(f.deadly(paced(50 * time.Millisecond)))
			s.dispatch(contacts, "c", 0, 150)
			s.dispatch(contacts, "pill", 0, pills)
			s.dispatch(contacts, "c", 150, 300)
			s.pillsParked(pills, 300)
			var ids []string
			for i := range pills {
				ids = append(ids, fmt.Sprintf("pill%d", i))
			}
			s.until("people to be told", func() bool { return len(s.hook.of(wire.PoisonPill)) == pills })
			f.end()
			b := s.audit(false)
			s.convicted(b, ids...)
			for id, n := range f.kill {
				if n > 2 {
					t.Errorf("%s killed %d workers, want two at the most", id, n)
				}
			}
			if f.killed() == 0 {
				t.Error("nothing was killed: this showed nothing")
			}
		})
	}
}

// Everything that was in the air with a pill is under suspicion, and acquitted.
func TestFiftyBesideAPillAreAcquitted(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	f := s.supervise(1, 51, "300ms")
	open := make(chan struct{})
	var once sync.Once
	deadly := f.deadly(nil)
	s.vendor.saying(func(c call) answer {
		if c.nth > 1 { // a suspect's second flight
			if strings.HasPrefix(c.business, "pill") {
				return deadly(c)
			}
			return ok
		}
		if !strings.HasPrefix(c.business, "pill") {
			return answer{status: 503, wait: open} // in the air until its worker is dead
		}
		testsvc.Until(t, long, "fifty beside the pill", func() bool { return s.vendor.air() == 51 })
		a := deadly(c)
		<-a.wait
		once.Do(func() { close(open) })
		return a
	})
	s.dispatch(contacts, "c", 0, 50)
	s.dispatch(contacts, "pill", 0, 1)
	s.pillsParked(1, 50)
	s.until("people to be told", func() bool { return len(s.hook.of(wire.PoisonPill)) == 1 })
	f.end()
	s.convicted(s.audit(false), "pill0")
	if f.killed() != 2 {
		t.Errorf("%d workers died, want two", f.killed())
	}
}

// loaded is a site under load whose workers somebody ends.
type loaded struct {
	*site
	f     *supervised
	sends int
}

func underLoad(t *testing.T) *loaded {
	s := newSite(t, "", "")
	l := &loaded{site: s, f: s.supervise(3, 4, "300ms")}
	s.vendor.saying(paced(30 * time.Millisecond))
	return l
}

// next sends n flights and gives a worker, once several are in the air.
func (l *loaded) next(i, n int) (name string, w *worker) {
	l.t.Helper()
	l.dispatch(contacts, "c", l.sends, l.sends+n)
	l.sends += n
	name = fmt.Sprintf("w%d", i%3+1)
	l.until("calls in the air", func() bool { return l.vendor.air() > 2 })
	return name, l.f.at(name)
}

// nobody checks that everything landed and nobody was convicted of anything.
func (l *loaded) nobody() {
	l.t.Helper()
	if !within(patient, func() bool { return len(l.vendor.landed()) == l.sends && l.look().Landed >= int64(l.sends) }) {
		l.t.Fatalf("%d sent: %+v", l.sends, l.look())
	}
	if list := l.incidents(); len(list) != 0 {
		l.t.Errorf("incidents: %+v", list)
	}
	l.f.end()
	if b := l.audit(false); len(b.parked) != 0 {
		l.t.Errorf("parked %v", b.parkedWhy)
	}
	if list := l.hook.of(wire.PoisonPill); len(list) != 0 {
		l.t.Errorf("told %+v", list)
	}
}

func TestTenDeploysSuspectNobody(t *testing.T) {
	t.Parallel()
	l := underLoad(t)
	for i := range 10 {
		name, w := l.next(i, 60)
		w.term()
		w.exits()
		l.until("its successor", func() bool { return l.f.at(name) != w })
		l.f.at(name).ready()
	}
	if list := l.suspects(); len(list) != 0 {
		t.Errorf("suspects of ten deploys: %+v", list)
	}
	l.nobody()
}

func TestFiveKillsConvictNobody(t *testing.T) {
	t.Parallel()
	l := underLoad(t)
	for i := range 5 {
		name, w := l.next(i, 120)
		w.kill()
		// Its flights are suspects, and acquitted, before the next one dies.
		if !within(patient, func() bool { return l.look().Landed >= int64(l.sends) && len(l.suspects()) == 0 }) {
			t.Fatalf("kill %d: %+v, suspects %+v", i+1, l.look(), l.suspects())
		}
		l.until("its successor", func() bool { return l.f.at(name) != w })
		l.f.at(name).ready()
	}
	l.nobody()
}

// The verdict needs no tower; only the word of it does.
func TestAPillIsConvictedWithNoTowerAndToldWhenOneIsBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	f := s.supervise(2, 4, "300ms", "tower: false")
	s.vendor.saying(f.deadly(paced(10 * time.Millisecond)))
	s.dispatch(contacts, "pill", 0, 1)
	s.dispatch(contacts, "c", 0, 100)
	s.pillsParked(1, 100)
	if list := s.hook.of(""); len(list) != 0 {
		t.Errorf("told %+v with no tower alive", list)
	}
	tower := s.start(1, s.config("tower.yaml", `
  mail:acme:
    gates:
      welcome: {http: {url: "VENDOR/mail"}}
`))[0]
	s.until("the tower to tell it", func() bool { return len(s.hook.of(wire.PoisonPill)) == 1 })
	f.end()
	tower.term()
	tower.exits()
	s.convicted(s.audit(false), "pill0")
	if f.killed() > 2 {
		t.Errorf("%d workers died", f.killed())
	}
}

func TestNobodyDiesOfAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	store := testsvc.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := newSite(t, "", store.URL())
	slow := make(chan struct{})
	s.vendor.saying(func(c call) answer {
		if strings.HasPrefix(c.business, "slow") {
			return answer{status: 200, wait: slow}
		}
		return paced(20 * time.Millisecond)(c)
	})
	s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "slow", 0, 4)
	s.until("four in the air", func() bool { return s.vendor.air() == 4 })
	s.dispatch(contacts, "c", 0, 200)
	s.vendor.lands(t, 20)
	store.Kill()
	// Thirty beats: anybody would be dead for everybody else.
	end := time.Now().Add(9 * time.Second)
	s.until("thirty beats to be missed", func() bool { return time.Now().After(end) })
	store.Start()
	s.vendor.lands(t, 200)
	if list := s.suspects(); len(list) != 0 {
		t.Errorf("suspects of an outage: %+v", list)
	}
	close(slow)
	s.vendor.lands(t, 204)
	s.until("an empty runway", func() bool { a := s.look(); return a.State == governor.OpenState && a.Runway == 0 && a.InAir == 0 })
	if list := s.incidents(); len(list) != 0 {
		t.Errorf("incidents: %+v", list)
	}
	s.close(true)
}
