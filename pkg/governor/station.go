package governor

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// station is one airport in this process: it beats, bears missing scopes, offers
// what it remembers after a loss, and wakes the lanes when something changed. A
// tower's station has no lanes.
type station struct {
	g    *Governor
	spec Airport // of a worker; only the ID of a tower's
	hold *store.Airport
	incs *incarnations
	log  *slog.Logger
	kind store.Kind

	lanes   []*lane
	intakes []*intake
	tower   *tower // nil where this process is none
	bear    chan struct{}
	beatUp  chan struct{} // asks for a beat now

	// unsettled counts outcomes other than LANDED that the settle script has not
	// answered; while there is one nothing is cleared for the airport.
	unsettled atomic.Int64
	halted    atomic.Bool // the airport takes no work, as last seen
	leaving   atomic.Bool
	over      atomic.Bool  // the station has ended
	offset    atomic.Int64 // store time less local time, ns
	stamp     atomic.Int64 // of the slots this process declared

	mu      sync.Mutex
	knew    []string // workers and towers that beat before the loss
	warned  time.Time
	noTower time.Time // since when no tower has beaten
	specBy  string    // whose declaration stands, where it is not ours

	overruled int64 // stamp of the last foreign slots seen; the beat's own
}

func newStation(g *Governor, spec Airport, kind store.Kind) *station {
	var ids []string
	for _, gate := range spec.Gates {
		ids = append(ids, gate.ID)
	}
	s := &station{
		g: g, spec: spec, kind: kind, log: g.log.With("airport", spec.ID),
		hold:   g.st.Airport(spec.ID, g.id, ids...),
		incs:   newIncarnations(g.id, g.runsSoFar(), g.cfg.Heartbeat),
		bear:   make(chan struct{}, 1),
		beatUp: make(chan struct{}, 1),
	}
	s.halted.Store(true) // until it is known to fly
	s.hold.OnNews(s.news)
	return s
}

// signal wakes whoever reads c, without waiting.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// news hears every status that this process had not seen.
func (s *station) news(st wire.Status) {
	if st.Scope.Gate == "" {
		s.halted.Store(!st.Flies())
	}
	for _, l := range s.lanes {
		if st.Scope.Gate == l.spec.ID {
			l.halted.Store(!st.Flies())
			l.scaled(st)
		}
	}
	switch st.State {
	case wire.Unknown, wire.Birth:
		if s.kind != store.TowerOnly {
			signal(s.bear)
		}
	default:
		s.log.Info("scope changed", "scope", st.Scope.String(), "state", string(st.Shown(s.now())), "epoch", st.Epoch, "reason", st.Reason, "incident", st.Incident)
	}
	for _, l := range s.lanes {
		l.fresh.Store(true)
	}
	s.wake()
}

func (s *station) wake() {
	for _, l := range s.lanes {
		signal(l.wake)
	}
	for _, in := range s.intakes {
		signal(in.wake)
	}
}

// settled notes that n outcomes other than LANDED were answered.
func (s *station) settled(n int64) {
	if n > 0 && s.unsettled.Add(-n) == 0 {
		s.wake()
	}
}

// now estimates the store's clock.
func (s *station) now() time.Time {
	return time.Now().Add(time.Duration(s.offset.Load()))
}

// local turns a time of the store into one of this process.
func (s *station) local(t time.Time) time.Time {
	return t.Add(-time.Duration(s.offset.Load()))
}

// clock takes in a reading of the store's clock from a call that was sent at sent and
// answered now: it was read about half-way.
func (s *station) clock(storeNow, sent time.Time) {
	half := time.Since(sent) / 2
	s.offset.Store(int64(time.Until(storeNow) + half))
}

// run beats until ctx ends. A beat brings back all statuses, so it is the poll too.
func (s *station) run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer s.over.Store(true)
	wg.Go(func() { s.births(ctx) })
	wg.Go(func() { s.cleanNotes(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.beatUp:
		}
		s.beat(ctx)
		timer.Reset(s.g.cfg.Heartbeat)
	}
}

func (s *station) beat(ctx context.Context) {
	sent := time.Now()
	incs := s.incs.beating(sent)
	r, err := s.hold.Beat(ctx, store.BeatCall{Incarnations: incs, Interval: s.g.cfg.Heartbeat, Kind: s.kind, Leaving: s.leaving.Load(), Solo: s.g.solo.at(s), Loads: s.loads()})
	if err != nil {
		if ctx.Err() == nil {
			s.storeAway(err)
		}
		return
	}
	s.clock(r.Now, sent)
	s.incs.answered(incs[0], sent, time.Now(), r.Others)
	s.g.stats.reach(s.spec.ID, true)
	s.g.stats.unsent(s.spec.ID, r.Outbox)
	s.wake()
	s.checkTower(r)
	s.checkSlots()
	if s.missing() && s.kind != store.TowerOnly {
		signal(s.bear)
	}
	if r.Lost {
		s.offer(ctx)
	} else {
		s.remember(r)
	}
	if s.tower != nil {
		s.tower.beaten(s, r)
	}
	s.remind(r.Now)
}

// storeAway notes that the store did not answer: no clearance until it has, and a
// peer has had time to say what it knows.
func (s *station) storeAway(err error) {
	s.incs.unanswered()
	s.g.stats.reach(s.spec.ID, false)
	if !s.g.quiet("store away "+s.spec.ID, time.Minute) {
		return
	}
	if errors.Is(err, store.ErrUnreachable) {
		s.log.Warn("the store does not answer: nothing is cleared until it does", "error", err)
	} else {
		s.log.Error("the store refuses a script: nothing is cleared until it does not", "error", err)
	}
}

// missing reports whether the store has no status of a scope this station serves.
func (s *station) missing() bool {
	for _, gate := range append([]string{""}, s.hold.Gates()...) {
		st, ok := s.hold.Last(gate)
		if !ok || st.State == wire.Unknown || st.State == wire.Birth {
			return true
		}
	}
	return false
}

// remember keeps who beats, for a restore after a loss.
func (s *station) remember(r store.BeatReply) {
	var knew []string
	for _, b := range r.Beats {
		if b.Alive(r.Now) && !slices.Contains(knew, b.Worker()) {
			knew = append(knew, b.Worker())
		}
	}
	s.mu.Lock()
	s.knew = knew
	s.mu.Unlock()
}

// offer tells the store what this process remembers. One with an unanswered
// settlement may know less than the store: it offers nothing.
func (s *station) offer(ctx context.Context) {
	if s.unsettled.Load() > 0 {
		return
	}
	if err := s.hold.Offer(ctx); err != nil {
		s.log.Debug("offering what was seen failed; the next beat offers again", "error", err)
	}
}

// checkTower warns where nobody is there to tell people. A stop holds without a
// tower; a silent one is what nobody wants.
func (s *station) checkTower(r store.BeatReply) {
	alive := s.tower != nil
	for _, b := range r.Beats {
		alive = alive || b.Alive(r.Now) && b.Kind != store.WorkerOnly
	}
	s.mu.Lock()
	if alive {
		s.noTower = time.Time{}
	} else if s.noTower.IsZero() {
		s.noTower = time.Now()
	}
	since := s.noTower
	s.mu.Unlock()
	if !alive && time.Since(since) >= 5*s.g.cfg.Heartbeat && s.g.quiet("no tower", time.Minute) {
		s.log.Warn("no tower is alive: stops hold, but nobody is notified; run a worker with its tower on, or traction-worker with tower: true",
			"unsent", r.Outbox)
	}
}

// remind logs while something is stopped or parked, so that it is never silent.
func (s *station) remind(storeNow time.Time) {
	if s.missing() {
		return // it is being born
	}
	s.mu.Lock()
	due := time.Since(s.warned) >= remindEvery
	if due {
		s.warned = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return
	}
	for _, gate := range append([]string{""}, s.hold.Gates()...) {
		st, ok := s.hold.Last(gate)
		if !ok || !standsStill(st) {
			continue
		}
		attrs := []any{"scope", st.Scope.String(), "state", string(st.Shown(storeNow)), "reason", st.Reason, "incident", st.Incident}
		if !st.Since.IsZero() {
			attrs = append(attrs, "since", st.Since, "for", storeNow.Sub(st.Since).Round(time.Second).String())
		}
		if gate != "" {
			if n, ok := s.depth(s.g.ns.Runway(st.Scope)); ok {
				attrs = append(attrs, "waiting", n)
			}
		}
		s.log.Warn("still stopped", attrs...)
	}
	for _, gate := range s.hold.Gates() {
		sc := wire.Scope{Airport: s.spec.ID, Gate: gate}
		if n, ok := s.depth(s.g.ns.Parked(sc)); ok && n > 0 {
			s.log.Warn("flights are parked", "scope", sc.String(), "parked", n, "oldest", s.oldestParked(sc))
		}
	}
}

const remindEvery = 5 * time.Minute

func (s *station) depth(queue string) (int, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	n, exists, err := s.g.bk.Depth(ctx, queue)
	return n, err == nil && exists
}

// oldestParked is how long the first parked flight has waited; "unknown" where
// that could not be read.
func (s *station) oldestParked(gate wire.Scope) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	age := "unknown"
	err := s.g.bk.Browse(ctx, s.g.ns.Parked(gate), 1, func(m wire.Message) bool {
		if f, err := wire.ParseFlight(m, gate, 0); err == nil && !f.ParkedAt.IsZero() {
			age = s.now().Sub(f.ParkedAt).Round(time.Second).String()
		}
		return false
	})
	if err != nil {
		return "unknown"
	}
	return age
}

// cleanNotes removes, every ten seconds, notes of this process whose flights it no
// longer has in hand: what a lost reply left behind.
func (s *station) cleanNotes(ctx context.Context) {
	if s.kind == store.TowerOnly {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(10*time.Second + rand.N(time.Second)):
		}
		notes, err := s.hold.Notes(ctx, nil)
		if err != nil {
			continue // the beat tells that the store is away
		}
		var drop []store.Note
		for _, n := range notes {
			if !slices.ContainsFunc(s.lanes, func(l *lane) bool { return l.has(n.Flight) }) {
				drop = append(drop, n)
			}
		}
		if len(drop) == 0 {
			continue
		}
		if _, err := s.hold.Notes(ctx, drop); err != nil && !errors.Is(err, context.Canceled) {
			s.log.Debug("removing notes that nothing is behind failed; tried again in 10s", "error", err)
		}
	}
}

// declareSpec writes what this process declares. The newer declaration wins; who
// loses says so, and both know it.
func (s *station) declareSpec(ctx context.Context) error {
	a := s.spec
	stands, by, mine, err := s.hold.Declare(ctx, "", s.stamp.Load(), map[string]string{
		"slots_n": strconv.Itoa(a.Slots.N), "slots_per": strconv.FormatInt(a.Slots.Per.Milliseconds(), 10), "mode": string(a.Mode),
	})
	if err != nil {
		return err
	}
	if mine {
		s.stamp.Store(stands)
	}
	s.mu.Lock()
	changed := s.specBy != by
	s.specBy = by
	s.mu.Unlock()
	st, _ := s.hold.Last("")
	if changed && !mine && (st.SlotsN != a.Slots.N || st.SlotsPer != a.Slots.Per) {
		s.log.Warn("another process declared other slots, and its declaration is the newer: it holds here too",
			"ours", slotsText(a.Slots.N, a.Slots.Per), "stands", slotsText(st.SlotsN, st.SlotsPer), "by", by)
	}
	for _, g := range a.Gates {
		if _, _, _, err := s.hold.Declare(ctx, g.ID, s.stamp.Load(), map[string]string{
			"workers": strconv.Itoa(g.Workers), "on_stop": onStopName(g.OnStop), "batch": strconv.Itoa(batchSize(g)), "adopt": adopted(g), "slot_each": slotEach(g),
		}); err != nil {
			return err
		}
	}
	return nil
}

// checkSlots has this process declare again, and so learn and say by whom it is
// overruled, where a newer declaration of other slots than its own stands.
func (s *station) checkSlots() {
	st, ok := s.hold.Last("")
	if !ok || s.kind == store.TowerOnly || st.SlotsStamp <= s.stamp.Load() || st.SlotsStamp == s.overruled ||
		st.SlotsN == s.spec.Slots.N && st.SlotsPer == s.spec.Slots.Per {
		return
	}
	s.overruled = st.SlotsStamp
	signal(s.bear)
}

func slotsText(n int, per time.Duration) string {
	if n == 0 {
		return "unlimited"
	}
	return strconv.Itoa(n) + "/" + wire.ShortDuration(per)
}
