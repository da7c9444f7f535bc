package governor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/settle"
)

// feed publishes every settled step to whoever listens, in batches that nobody
// waits for. It informs and decides nothing: where it is full, or the broker away,
// reports are dropped and counted.
type feed struct {
	g  *Governor
	in chan fed
}

type fed struct {
	key    string
	report wire.Report
}

const (
	feedSize  = 4096
	feedBatch = 256
	feedEvery = 100 * time.Millisecond
)

func newFeed(g *Governor) *feed { return &feed{g: g, in: make(chan fed, feedSize)} }

func (f *feed) add(j *job, m settle.Move, applied bool) {
	r := wire.Report{
		Flight: j.flight.ID, BusinessID: j.flight.BusinessID, Scope: j.flight.Scope.String(), Charter: j.flight.Charter,
		Epoch: j.epochG, Outcome: j.outcome(), Settled: m.Name(), Reason: string(m.Reason),
		Attempt: j.flight.Holds.Total() + 1, At: time.Now().UTC(), Applied: applied,
	}
	if j.flight.Charter != "" {
		seat := j.flight.Seat
		r.Seat = &seat
	}
	if j.ev != (wire.Evidence{}) {
		ev := j.ev
		r.Evidence = &ev
	}
	select {
	case f.in <- fed{wire.ReportKey(r.Outcome, j.flight.Scope), r}:
	default:
		f.g.stats.lostReports(1)
	}
}

// run publishes until ctx ends and then what is left.
func (f *feed) run(ctx context.Context) {
	batch := map[string][]wire.Report{}
	n := 0
	flush := func() {
		if n > 0 {
			f.publish(batch, n)
			clear(batch)
			n = 0
		}
	}
	tick := time.NewTicker(feedEvery)
	defer tick.Stop()
	take := func(r fed) {
		batch[r.key] = append(batch[r.key], r.report)
		if n++; n >= feedBatch {
			flush()
		}
	}
	for {
		select {
		case <-ctx.Done():
			for {
				select {
				case r := <-f.in:
					take(r)
					continue
				default:
				}
				flush()
				return
			}
		case r := <-f.in:
			take(r)
		case <-tick.C:
			flush()
		}
	}
}

func (f *feed) publish(batch map[string][]wire.Report, n int) {
	var msgs []broker.Publishing
	for key, reports := range batch {
		body, err := json.Marshal(wire.ReportBatch{Version: wire.ReportVersion, Worker: f.g.id, Reports: reports})
		if err != nil {
			f.g.stats.lostReports(len(reports))
			continue
		}
		msgs = append(msgs, broker.Publishing{Exchange: f.g.ns.ReportsExchange(), Key: key, Optional: true,
			Message: wire.Message{Type: "traction.reports.v1", ContentType: "application/json", Body: body, Timestamp: time.Now().UTC().Truncate(time.Second)}})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, err := range f.g.bk.Publish(ctx, msgs) {
		if err != nil {
			f.g.stats.lostReports(n / len(msgs))
		}
	}
}
