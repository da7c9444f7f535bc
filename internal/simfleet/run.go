package simfleet

import (
	"context"
	"fmt"
	"log/slog"
	"testing/synctest"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// Result is how a run ended.
type Result struct {
	Plan      Plan
	Wrong     []string // what did not hold; empty: everything did
	Limits    []string // convictions that a documented limit allows
	Story     []string
	Kills     int
	Convicted int
	Took      time.Duration // of virtual time
}

// most is how long, in virtual time, a fleet may take after the last fault.
const most = 20 * time.Minute

// told is how long people may wait for a notification: its sender may have died, and
// its lease runs for a minute.
const told = 90 * time.Second

// Run plays a plan. It must be called in a bubble of testing/synctest.
func Run(p Plan, log *slog.Logger) (*Result, error) {
	w, err := newWorld(p, log)
	if err != nil {
		return nil, err
	}
	w.cargo()
	w.lastFault = bubbleStart.Add(p.Faults)
	for place := range w.slots {
		w.start(place)
	}
	if err := w.dispatch(); err != nil {
		return nil, err
	}
	w.schedule()
	stuck := w.wait()
	time.Sleep(told)
	res := &Result{Plan: p, Took: time.Since(bubbleStart)}
	if stuck != "" {
		w.mu.Lock()
		w.broken("stuck: %s", stuck)
		w.mu.Unlock()
	}
	err = w.judge(res)
	w.end()
	w.mu.Lock()
	res.Wrong, res.Story = w.wrong, w.story
	w.mu.Unlock()
	return res, err
}

// dispatch sends the flights once their runways stand.
func (w *World) dispatch() error {
	for _, f := range w.sorted() {
		for try := 0; ; try++ {
			_, err := w.desk.Dispatch(context.Background(), f.gate, map[string]string{"id": f.id}, governor.BusinessID(f.id), governor.FlightID(f.id))
			if err == nil {
				break
			}
			if try == 600 {
				return fmt.Errorf("dispatch: %w", err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if w.chance(0.3) {
			time.Sleep(w.between(0, w.plan.Faults/time.Duration(len(w.flights))))
		}
	}
	return nil
}

// wait returns when nothing is on its way any more, or says what is.
func (w *World) wait() string {
	for {
		time.Sleep(time.Second)
		synctest.Wait()
		left := ""
		for i := range w.plan.Airports {
			gate := airportName(i) + "/" + gateName
			for queue, n := range w.broker.Count(gate) {
				if queue == string(w.ns)+"."+gate+".parked" || queue == string(w.ns)+"."+gate+".rejected.7d" {
					continue
				}
				left += fmt.Sprintf(" %s: %d ready, %d handed out;", queue, n.Ready, n.Handed)
			}
		}
		w.mu.Lock()
		last, quiet := w.lastFault, time.Since(bubbleStart) > w.plan.Faults
		w.mu.Unlock()
		if left == "" && quiet {
			return ""
		}
		if quiet && (time.Since(last) > most || time.Since(bubbleStart) > w.plan.Faults+2*most) {
			return left
		}
	}
}

// end drains the fleet and waits until nothing of it is left.
func (w *World) end() {
	w.mu.Lock()
	w.over = true
	procs := append([]*process(nil), w.procs...)
	for _, p := range procs {
		if p.cancel != nil {
			defer p.cancel()
			p.leaving = true
			p.cancel()
		}
	}
	w.mu.Unlock()
	w.wg.Wait()
	_ = w.desk.Close(context.Background())
	w.redis.Close()
	time.Sleep(time.Minute) // the library's last dials of stores that are gone
}
