package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// pillID is the contact that kills.
const pillID = "contact-that-kills"

// rebirth is how long an orchestrator takes to start a process again.
const rebirth = 500 * time.Millisecond

// pills is the poison scenario as it goes on: a fleet whose processes die of one
// contact, and are started again.
type pills struct {
	*act
	vendor *vendor
	crm    *crm

	running context.Context
	wg      sync.WaitGroup
	mu      sync.Mutex
	over    bool
	births  int
	deaths  []string // who died, and with how much in the air
	err     error
}

// poison is a contact that kills the process that flies it: two processes die of it
// before it is named and set aside, and everything else lands.
func poison(ctx context.Context, st *stage) (res *Result, err error) {
	p := &pills{act: newAct(st, "poison")}
	st.Narrator.Say("poison: one of %s contacts kills whoever flies it", count(p.n))
	if p.vendor, err = startVendor(st.sabotage); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.vendor.close()) }()
	p.crm = newCRM(p.vendor)
	p.crm.fix()
	defer p.crm.close()
	if p.desk, err = st.field.governor(ctx, governor.Config{Name: "tractionctl", NoTower: true, Actor: st.Actor, Logger: st.log()}); err != nil {
		return nil, err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		err = errors.Join(err, p.desk.Close(end))
	}()
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	p.running = running
	end := func() error {
		p.mu.Lock()
		p.over = true
		p.mu.Unlock()
		stop()
		p.wg.Wait()
		return p.err
	}
	defer func() { err = errors.Join(err, end()) }()
	for range processes {
		p.bear()
	}
	if on, err := p.ready(ctx, processes*workers); err != nil || !on {
		return p.res, err
	}
	for _, step := range []func(context.Context) (bool, error){p.arrive, p.named} {
		if on, err := step(ctx); err != nil {
			return nil, err
		} else if !on {
			return p.res, nil
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	return p.res, p.books(ctx)
}

// bear starts one process, and the next one when it dies.
func (p *pills) bear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.births++
	name := fmt.Sprintf("worker-%d", p.births)
	p.wg.Go(func() {
		if err := p.live(name); err != nil {
			p.mu.Lock()
			p.err = errors.Join(p.err, err)
			p.mu.Unlock()
		}
	})
}

// live is the life of one process.
func (p *pills) live(name string) error {
	m, err := p.field.mortal(p.running, governor.Config{Name: name, Heartbeat: beat, Grace: closing / 4, Hooks: []governor.Hook{p.pager}, Logger: p.log()})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(p.running)
	defer stop()
	m.gone = stop
	var mu sync.Mutex
	inAir := 0
	err = m.gov.Run(ctx, governor.Airport{
		ID:    airportID,
		Slots: governor.Slots{N: p.Rate, Per: window},
		Gates: []governor.Gate{{ID: gateID, Workers: workers, Timeout: 2 * time.Second, Pilot: governor.JSON(func(ctx context.Context, f governor.Flight[contact]) error {
			mu.Lock()
			inAir++
			beside := inAir - 1
			mu.Unlock()
			defer func() { mu.Lock(); inAir--; mu.Unlock() }()
			if f.Payload.ID != pillID {
				return p.crm.Upsert(ctx, f.Payload)
			}
			m.kill()
			p.died(name, beside)
			<-ctx.Done()
			return ctx.Err()
		})}},
	})
	m.wg.Wait()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	closed := m.gov.Close(end)
	if m.isDead() {
		return nil // what it says of its end is nobody's business
	}
	return errors.Join(err, closed)
}

func (p *pills) died(name string, beside int) {
	p.mu.Lock()
	p.deaths = append(p.deaths, name)
	over := p.over
	p.mu.Unlock()
	p.Narrator.Say("  %s dies, with %s beside it in the air; another starts", name, render.Plural(render.Count(beside), "flight"))
	if !over {
		p.wg.Go(func() {
			select {
			case <-time.After(rebirth):
				p.bear()
			case <-p.running.Done():
			}
		})
	}
}

func (p *pills) dead() int { p.mu.Lock(); defer p.mu.Unlock(); return len(p.deaths) }

func (p *pills) arrive(ctx context.Context) (bool, error) {
	sent, err := p.desk.DispatchAll(ctx, gateScope, p.contacts())
	want(p.res, "dispatched", sent.Sent, p.n)
	return true, err
}

// contacts are all contacts, one of which is the pill, a third of the way.
func (p *pills) contacts() iter.Seq2[governor.Outgoing, error] {
	return func(yield func(governor.Outgoing, error) bool) {
		for i := range p.n {
			if i == p.n/3 {
				pill := contact{pillID, "pill@example.com"}
				if !yield(governor.Outgoing{Payload: pill.payload(), BusinessID: pillID, ContentType: "application/json"}, nil) {
					return
				}
				continue
			}
			c := contactNumber(i)
			if !yield(governor.Outgoing{Payload: c.payload(), BusinessID: c.ID, ContentType: "application/json"}, nil) {
				return
			}
		}
	}
}

// named watches until the pill is parked and told of, and all else has landed.
func (p *pills) named(ctx context.Context) (bool, error) {
	began := time.Now()
	done, err := watch(ctx, p.stage, func(ctx context.Context) (seen [6]int, done bool, err error) {
		landed, _ := p.vendor.landed()
		a, err := p.look(ctx)
		if err != nil {
			return seen, false, err
		}
		told := len(p.pager.taken())
		waiting, held := p.waits(landed, a)
		p.Narrator.Progress("  landed %s of %s · waiting %s, %s of them on hold · parked %s · processes that died %d",
			count(landed), count(p.n), count(waiting), count(held), count(a.Parked), p.dead())
		return [6]int{landed, a.Runway, a.Holding, a.InAir, p.dead(), told},
			landed >= p.n-1 && a.Landed >= int64(p.n-1) && a.Parked > 0 && a.Runway == 0 && a.Holding == 0 && a.InAir == 0 && told > 0, nil
	})
	if err != nil {
		return false, err
	}
	p.Narrator.Say("  %s after the first contact left:", seconds(began))
	p.Narrator.Say("    $ tractionctl suspect list %s", airportID)
	list, err := p.desk.Suspects(ctx, airportID)
	if err != nil {
		return false, err
	}
	for _, s := range list {
		p.Narrator.Say("    %s  %s  %s", s.Flight, s.Verdict, render.Join(s.Workers))
	}
	want(p.res, "suspects", len(list), 1)
	p.res.check(done, "not all contacts landed with the pill parked")
	return true, nil
}

// waits gives how many contacts wait, and how many of these on hold. What a process had
// in hand when it died is on the runway again, and counted as its own until it counts as
// dead; what landed and was not acknowledged comes once more. No more wait than have
// neither landed nor been parked.
func (p *pills) waits(landed int, a governor.AirportInfo) (waiting, held int) {
	rest := max(p.n-landed-max(a.Parked, 0), 0)
	waiting = rest
	if a.Runway != governor.Unread {
		waiting = min(a.Runway+a.Holding, rest)
	}
	return waiting, min(a.Holding, waiting)
}

func (p *pills) books(ctx context.Context) error {
	parked, err := p.desk.Parked(ctx, gateScope, governor.ParkedFilter{})
	if err != nil {
		return err
	}
	a, err := p.look(ctx)
	if err != nil {
		return err
	}
	stray, err := p.stray(ctx)
	if err != nil {
		return err
	}
	landed, _ := p.vendor.landed()
	told := p.pager.taken()
	r := p.res
	r.fact("lost", p.n-1-landed)
	r.fact("processes killed", p.dead())
	r.fact("parked as POISON_PILL", len(parked))
	r.fact("notifications", len(told))
	want(r, "lost", p.n-1-landed, 0)
	r.check(p.dead() == 2, "processes killed: %d, want 2", p.dead())
	r.check(len(parked) == 1 && parked[0].Reason == settle.ReasonPoisonPill && parked[0].BusinessID == pillID, "parked %+v, want the contact that kills alone", parked)
	want(r, "waiting or dead-lettered", a.Runway+a.Holding+stray, 0)
	want(r, "state", a.State, governor.OpenState)
	want(r, "notifications", len(told), 1)
	for _, t := range told {
		want(r, "notification", t.Type, wire.PoisonPill)
		r.check(len(t.Workers) == 2, "workers named: %v, want two", t.Workers)
	}
	return nil
}
