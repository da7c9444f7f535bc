package governor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/management"
	"github.com/traction-go/traction/internal/wire"
)

// topology compares what is wanted with what is declared, each thing first by a look
// that cannot change it, then by the declaration itself: an AMQP broker says of
// another argument only that it is another.
func (d *doctor) topology(ctx context.Context) {
	known, wanted := d.gates()
	if len(known) == 0 && len(wanted) == 0 {
		return
	}
	bad := 0
	look := func(t broker.Topology, declared bool) {
		for _, x := range t.Exchanges {
			exists, err := d.g.bk.HasExchange(ctx, x.Name)
			bad += d.compare(ctx, "exchange", x.Name, exists, err, declared, broker.Topology{Exchanges: []broker.Exchange{x}})
		}
		for _, q := range t.Queues {
			_, exists, err := d.g.bk.Depth(ctx, q.Name)
			bad += d.compare(ctx, "queue", q.Name, exists, err, declared, broker.Topology{Queues: []broker.Queue{q}})
		}
	}
	look(common(d.g.ns), len(known) > 0)
	var delays []time.Duration
	for _, a := range d.airports {
		delays = append(append(delays, a.Holds.Transient...), a.Holds.Internal...)
	}
	look(holds(d.g.ns, delays), false)
	for _, gate := range known {
		look(gateTopology(d.g.ns, gate), true)
		marker := broker.Exchange{Name: d.g.ns.BornExchange(gate), Kind: broker.Fanout}
		look(broker.Topology{Exchanges: []broker.Exchange{marker}}, true)
	}
	for _, gate := range wanted {
		look(gateTopology(d.g.ns, gate), false)
	}
	if bad == 0 {
		d.say(LevelOK, "topology", "", fmt.Sprintf("what %s need is declared as wanted", count(len(known), "known gate")), "")
	}
	if n := len(wanted); n > 0 {
		d.say(LevelNote, "topology", "", fmt.Sprintf("%s not declared yet: a worker does when it starts", count(n, "wanted gate")), "")
	}
}

// compare gives 1 where something is wrong.
func (d *doctor) compare(ctx context.Context, kind, name string, exists bool, err error, declared bool, t broker.Topology) int {
	if err == nil && exists {
		err = d.g.bk.Declare(ctx, t)
	}
	switch {
	case errors.Is(err, broker.ErrMismatch):
		d.say(LevelSerious, "topology", name, "its declaration would be refused: "+err.Error(), mismatchFix(kind))
	case errors.Is(err, broker.ErrRefused):
		d.say(LevelSerious, "topology", name, "the broker's permissions do not allow it: "+err.Error(), "give the user configure, write and read rights on the namespace's names")
	case err != nil:
		d.say(LevelNote, "topology", name, "it could not be compared: "+err.Error(), "")
	case !exists && declared:
		d.say(LevelSerious, "topology", name, "the "+kind+" is missing, and a gate that the store knows needs it", "restart a worker that serves it: it declares what is missing")
	default:
		return 0
	}
	return 1
}

func mismatchFix(kind string) string {
	if kind == "queue" {
		return "somebody else declared it: back the queue up, delete it, restart a worker, and restore"
	}
	return "somebody else declared it: delete it at a quiet moment and restart a worker at once"
}

// policies looks at what acts on the queues unseen from AMQP.
func (d *doctor) policies(ctx context.Context) {
	urls := splitURLs(d.g.cfg.AMQP)
	if len(urls) == 0 {
		return // embedded: there are none
	}
	c, err := management.New(urls[0], d.g.cfg.Management, d.g.cfg.TLS)
	if err != nil {
		d.say(LevelNote, "policies", "", "could not look: "+err.Error(), "")
		return
	}
	qs, err := c.Queues(ctx, string(d.g.ns)+".")
	if err != nil {
		d.say(LevelNote, "policies", "", "could not look: "+err.Error(),
			"policies cannot be seen over AMQP: enable the management plugin, or check with rabbitmqctl list_policies that none acts on queues that start with "+string(d.g.ns)+".")
		return
	}
	before := len(d.found)
	for _, q := range qs {
		d.found = append(d.found, judgeQueue(strings.TrimPrefix(q.Name, string(d.g.ns)+"."), q, d.longest())...)
	}
	if len(d.found) == before {
		d.say(LevelOK, "policies", "", fmt.Sprintf("none that harms acts on %s of the namespace", count(len(qs), "queue")), "")
	}
}

// judgeQueue looks at one queue's arguments and policies; name is without the
// namespace.
func judgeQueue(name string, q management.Queue, longest time.Duration) (out []Finding) {
	say := func(l Level, check, found, fix string) {
		if q.Policy != "" {
			found += " (policy " + q.Policy + ")"
		}
		out = append(out, Finding{l, check, wire.Visible(q.Name), wire.Visible(found), fix})
	}
	runway, expires := strings.HasSuffix(name, ".runway"), strings.HasPrefix(name, "hold.") || strings.Contains(name, ".rejected.")
	drops := LevelSerious // what hits a limit there is gone
	if runway {
		drops = LevelWarning // a tower parks it
	}
	const exempt = "take the policy off the namespace's queues"
	if n, ok := management.Number(q.Arguments, "x-delivery-limit"); q.Type == "quorum" && (!ok || n < wire.DeliveryLimit) {
		say(LevelSerious, "delivery limit", "it was not declared with a delivery limit of "+fmt.Sprint(wire.DeliveryLimit), mismatchFix("queue"))
	}
	if n, ok := management.Number(q.Effective, "delivery-limit"); ok && n < wire.DeliveryLimit {
		say(drops, "delivery limit", fmt.Sprintf("a policy lowers the delivery limit to %d: what is returned or looked at more often is dropped there, or leaves it", n), exempt)
	}
	if n, ok := management.Number(q.Effective, "message-ttl"); ok {
		own, has := management.Number(q.Arguments, "x-message-ttl")
		switch {
		case !expires:
			say(LevelSerious, "message ttl", fmt.Sprintf("a policy drops what is older than %s", time.Duration(n)*time.Millisecond), exempt)
		case !has || n < own:
			say(LevelWarning, "message ttl", fmt.Sprintf("a policy shortens its time to %s", time.Duration(n)*time.Millisecond), exempt)
		}
	}
	if n, ok := management.Number(q.Effective, "expires"); ok {
		say(LevelSerious, "expiry", fmt.Sprintf("a policy deletes the queue, with what is in it, once it is unused for %s", time.Duration(n)*time.Millisecond), exempt)
	}
	for _, key := range []string{"max-length", "max-length-bytes"} {
		if n, ok := management.Number(q.Effective, key); ok {
			if q.Arguments["x-overflow"] == "reject-publish" {
				say(LevelWarning, "length", fmt.Sprintf("a policy sets %s to %d: what comes when it is full is refused, and its sender told", key, n), exempt)
			} else {
				say(LevelSerious, "length", fmt.Sprintf("a policy sets %s to %d: what is oldest is dropped when it is full", key, n), exempt)
			}
		}
	}
	if n, ok := management.Number(q.Effective, "consumer-timeout"); ok && runway {
		t := time.Duration(n) * time.Millisecond
		if longest > t/2 {
			say(LevelWarning, "ack timeout", fmt.Sprintf("a policy sets it to %s, and the longest timeout of a gate is %s: a flight may be redelivered while it flies", t, longest), "raise it to more than twice the longest timeout")
		}
	}
	return out
}
