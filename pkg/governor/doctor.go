package governor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	LevelOK      Level = "ok"
	LevelNote    Level = "note"    // good to know, or could not be looked at
	LevelWarning Level = "warning" // works, and may not tomorrow
	LevelSerious Level = "serious" // something that is promised is broken, or will be
)

// Finding is one thing the doctor looked at.
type Finding struct {
	Level   Level
	Check   string // what was looked at: broker, store, eviction ...
	Subject string // which queue, exchange or scope; "" for the whole
	Found   string
	Fix     string // what to do; "" where there is nothing to do
}

// Doctor looks at the broker, the store and the fleet, and says what it found, in
// the order in which it looked. With airports it compares what they want with what
// is declared, and says which declaration would be refused. It changes nothing, with
// one exception: a queue that somebody deletes while it is compared may be declared
// again.
//
// What cannot be read is a note. An error says that the airports are no valid
// declaration; a service that does not answer is a finding.
func (g *Governor) Doctor(ctx context.Context, airports ...Airport) ([]Finding, error) {
	d := &doctor{g: g}
	for _, a := range airports {
		if err := a.Validate(); err != nil {
			return nil, err
		}
		d.airports = append(d.airports, a.withDefaults())
	}
	d.broker(ctx)
	d.store(ctx)
	d.fleet(ctx)
	if d.brokerUp {
		d.topology(ctx)
		d.adoptions(ctx)
		d.policies(ctx)
		d.ackTimeout()
	}
	return d.found, nil
}

// Examine is Doctor where the services may be away: it opens what answers, looks,
// and closes it. A broker that does not answer is a finding like any other.
func Examine(ctx context.Context, c Config, airports ...Airport) ([]Finding, error) {
	g, err := openInHalf(ctx, c)
	if err == nil {
		defer closeSoon(ctx, g)
		return g.Doctor(ctx, airports...)
	}
	if !errors.Is(err, ErrUnreachable) {
		return nil, err
	}
	c = c.withDefaults()
	st, storeErr := store.Open(store.Config{URLs: splitURLs(c.Redis), TLS: c.TLS, Namespace: wire.Namespace(c.Namespace), Timeout: c.StoreTimeout})
	if storeErr != nil {
		return nil, badSpec("Config.Redis", "%v", storeErr)
	}
	g = &Governor{cfg: c, ns: wire.Namespace(c.Namespace), id: processID(c.Name), log: c.Logger, st: st, bk: nobody{err}}
	defer closeSoon(ctx, g)
	return g.Doctor(ctx, airports...)
}

// openInHalf leaves half of the time to look at the other service, where one does not
// answer.
func openInHalf(ctx context.Context, c Config) (*Governor, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	return Open(ctx, c)
}

func closeSoon(ctx context.Context, g *Governor) {
	end, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer done()
	if err := g.Close(end); err != nil {
		g.log.Debug("closing failed", "error", err)
	}
}

// nobody is a broker that did not answer. The doctor asks it no more than whether it
// is there.
type nobody struct{ why error }

func (n nobody) Publish(_ context.Context, msgs []broker.Publishing) []error {
	errs := make([]error, len(msgs))
	for i := range errs {
		errs[i] = n.why
	}
	return errs
}
func (n nobody) Subscribe(context.Context, string, int) (broker.Subscription, error) {
	return nil, n.why
}
func (n nobody) Standing(context.Context, string) (broker.Standing, error) {
	return broker.Standing{}, n.why
}
func (n nobody) Declare(context.Context, broker.Topology) error                     { return n.why }
func (n nobody) HasExchange(context.Context, string) (bool, error)                  { return false, n.why }
func (n nobody) Depth(context.Context, string) (int, bool, error)                   { return 0, false, n.why }
func (n nobody) Consumers(context.Context, string) (int, error)                     { return 0, n.why }
func (n nobody) DeleteQueue(context.Context, string) error                          { return n.why }
func (n nobody) DeleteExchange(context.Context, string) error                       { return n.why }
func (n nobody) Unbind(context.Context, ...broker.Binding) error                    { return n.why }
func (n nobody) Browse(context.Context, string, int, func(wire.Message) bool) error { return n.why }
func (n nobody) Ping(context.Context) error                                         { return n.why }
func (n nobody) Blocked() (string, bool)                                            { return "", false }
func (n nobody) Close(context.Context) error                                        { return nil }

// doctor is one examination.
type doctor struct {
	g        *Governor
	airports []Airport // wanted
	known    []AirportInfo
	brokerUp bool
	storeUp  bool
	found    []Finding
}

func (d *doctor) say(l Level, check, subject, found, fix string) {
	d.found = append(d.found, Finding{l, check, wire.Visible(subject), wire.Visible(wire.Mask(found)), fix})
}

// introspective is a broker that tells of itself. The embedded one does not.
type introspective interface {
	Server(ctx context.Context) (broker.Server, error)
}

func (d *doctor) broker(ctx context.Context) {
	if err := d.g.bk.Ping(ctx); err != nil {
		d.say(LevelSerious, "broker", "", "it does not answer: "+err.Error(), "check the AMQP URL and that RabbitMQ is up; flights wait meanwhile, none is lost")
		return
	}
	d.brokerUp = true
	b, ok := d.g.bk.(introspective)
	if !ok {
		d.say(LevelNote, "broker", "", "the embedded one: for trying things out, not for production", "")
	} else if s, err := b.Server(ctx); err != nil {
		d.say(LevelNote, "broker", "", "it answers and does not say what it is: "+err.Error(), "")
	} else {
		d.found = append(d.found, judgeBroker(s), judgeFrame(s.FrameMax))
	}
	if why, blocked := d.g.bk.Blocked(); blocked {
		d.say(LevelSerious, "alarm", "", "the broker blocks publishers: "+why, "free memory or disk at the broker: nothing can be dispatched, parked or put on hold meanwhile")
	} else {
		d.say(LevelOK, "alarm", "", "publishers are not blocked", "")
	}
}

// leastBroker is the oldest that was tried.
const leastBroker = 3

func judgeBroker(s broker.Server) Finding {
	f := Finding{LevelOK, "broker", "", wire.Visible(fmt.Sprintf("%s %s at %s", s.Product, s.Version, s.Endpoint)), ""}
	major, minor := 0, 0
	if _, err := fmt.Sscanf(s.Version, "%d.%d", &major, &minor); err != nil || !strings.EqualFold(s.Product, "RabbitMQ") {
		f.Level, f.Fix = LevelWarning, "Traction was tried on RabbitMQ 3.10 and later: try a rehearsal before you trust it here"
	} else if major < leastBroker || major == leastBroker && minor < 10 {
		f.Level, f.Fix = LevelSerious, "use RabbitMQ 3.10 or later: older ones have no dead-lettering that keeps every message"
	}
	return f
}

// leastFrame is what the largest headers need: a frame that is too long closes the
// connection on everybody.
const leastFrame = 128 << 10

func judgeFrame(n int) Finding {
	f := Finding{LevelOK, "frame size", "", fmt.Sprintf("%d bytes", n), ""}
	switch {
	case n == 0:
		f.Found = "no limit"
	case n < leastFrame:
		f.Level = LevelWarning
		f.Found += fmt.Sprintf(": headers of more than that close the connection, and up to %d may be sent", broker.MaxProperties)
		f.Fix = fmt.Sprintf("set frame_max = %d or more at the broker", leastFrame)
	}
	return f
}

// longest is the longest timeout of the wanted gates.
func (d *doctor) longest() (t time.Duration) {
	for _, a := range d.airports {
		for _, gate := range a.Gates {
			t = max(t, gate.Timeout)
		}
	}
	return t
}

func (d *doctor) ackTimeout() {
	found := fmt.Sprintf("it cannot be read over AMQP; RabbitMQ's default is %s", DefaultAckTimeout)
	if t := d.longest(); t > DefaultAckTimeout/2 {
		d.say(LevelWarning, "ack timeout", "", fmt.Sprintf("%s, and the longest timeout of a gate is %s: a flight may be redelivered while it flies", found, t),
			"set consumer_timeout at the broker to more than twice the longest timeout, or shorten that")
		return
	}
	d.say(LevelNote, "ack timeout", "", found, "if consumer_timeout was set at the broker, it must be more than twice the longest timeout of a gate")
}
