package rehearse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/throwaway"
	"github.com/traction-go/traction/internal/wire"
)

// adopted is a stand-in that was declared.
type adopted struct {
	standIn
	like declaration // the real one's
}

// limit is how many of n messages the stand-in takes at once.
func (a *adopted) limit(n int) int {
	if longest := a.like.number("x-max-length"); longest > 0 && int64(n) > longest {
		return int(longest)
	}
	return n
}

// says is what the step tells of it.
func (a *adopted) says() string {
	q := wire.Visible(a.Queue)
	switch {
	case a.like.unknown != "" && len(a.like.args) == 0:
		return fmt.Sprintf("%s could not be asked for its arguments (%s): a classic queue without any stands in", q, a.like.unknown)
	case !a.like.exists:
		return q + " is not on this broker: a classic queue without arguments stands in"
	}
	text := fmt.Sprintf("%s is %s", q, a.like.kind())
	if rest := without(a.like.args, "x-queue-type"); rest != "" {
		text += " with " + rest
	}
	if a.like.unknown != "" {
		text += " and more that could not be read (" + a.like.unknown + ")"
	}
	if a.like.deadLetters() {
		text += "; the stand-in has a dead-letter exchange of its own"
	}
	return text
}

func without(args amqp.Table, name string) string {
	var parts []string
	for _, k := range sorted(args) {
		if k != name {
			parts = append(parts, fmt.Sprintf("%s=%v", strings.TrimPrefix(k, "x-"), wire.Visible(fmt.Sprint(args[k]))))
		}
	}
	return strings.Join(parts, " ")
}

// standIns declares a stand-in for every adopted queue.
func (f *field) standIns(ctx context.Context, all []standIn) (out []*adopted, err error) {
	if f.embedded {
		for _, s := range all {
			if err := f.bk.Declare(ctx, broker.Topology{Queues: []broker.Queue{{Name: s.Name}}}); err != nil {
				return nil, err
			}
			out = append(out, &adopted{standIn: s})
		}
		return out, nil
	}
	conn, err := throwaway.DialAMQP(f.AMQP)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, s := range all {
		like, err := ask(ctx, conn, s.Queue)
		if err != nil {
			return nil, fmt.Errorf("ask how queue %s was declared: %w", wire.Visible(s.Queue), err)
		}
		a := &adopted{s, like}
		if like.kind() == "stream" {
			return nil, &Mismatch{Wanted: "a classic or quorum queue at " + wire.Visible(s.Queue), Seen: "a stream, which keeps what was acknowledged",
				Next: "a stream cannot be adopted: have its producers write to a queue, or dispatch to the gate"}
		}
		if err := f.stand(conn, a); err != nil {
			return nil, &Mismatch{Wanted: "queue " + a.Name + " declared like " + wire.Visible(s.Queue), Seen: wire.Visible(err.Error()),
				Next: "give the user configure, write and read rights on " + string(f.ns) + ".* (for a rehearsal, on rehearse-.*), or rehearse on a throw-away broker"}
		}
		out = append(out, a)
	}
	return out, nil
}

// stand declares one stand-in, with what is behind it.
func (f *field) stand(conn *amqp.Connection, a *adopted) error {
	f.ledger.Note(broker.Topology{Queues: []broker.Queue{{Name: a.Name}}})
	args := maps.Clone(a.like.args)
	return declare(conn, func(ch *amqp.Channel) error {
		if a.like.deadLetters() {
			// What dies here must not reach the real dead letters.
			f.ledger.Note(broker.Topology{Queues: []broker.Queue{{Name: a.Dead}}, Exchanges: []broker.Exchange{{Name: a.Dead}}})
			args[deadLetterExchange] = a.Dead
			if err := ch.ExchangeDeclare(a.Dead, amqp.ExchangeFanout, true, false, false, false, nil); err != nil {
				return err
			}
			if _, err := ch.QueueDeclare(a.Dead, true, false, false, false, nil); err != nil {
				return err
			}
			if err := ch.QueueBind(a.Dead, "", a.Dead, false, nil); err != nil {
				return err
			}
		}
		_, err := ch.QueueDeclare(a.Name, a.like.durable, false, false, false, args)
		return err
	})
}
