package rehearse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/throwaway"
	"github.com/traction-go/traction/internal/wire"
)

// declaration is how a queue was declared.
type declaration struct {
	exists  bool
	durable bool
	args    amqp.Table
	unknown string // why the rest of it could not be read; "": it is all here
}

// most is how many arguments a queue may have that are asked for.
const most = 32

// ask finds out how a queue was declared. AMQP has no question for that: the queue is
// declared as far as it is known, and the broker refuses that and names one argument
// with the value that it has, until it refuses nothing. A queue that is not there is
// not made.
func ask(ctx context.Context, conn *amqp.Connection, queue string) (declaration, error) {
	d := declaration{durable: true, args: amqp.Table{}}
	var e *amqp.Error
	err := declare(conn, func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
		return err
	})
	switch {
	case err == nil:
	case errors.As(err, &e) && e.Code == amqp.NotFound:
		return d, nil
	case errors.As(err, &e) && (e.Code == amqp.AccessRefused || e.Code == amqp.ResourceLocked):
		d.unknown = "the broker says: " + wire.Visible(e.Reason)
		return d, nil
	default:
		return d, throwaway.Unreachable(err)
	}
	d.exists = true
	for range most {
		if ctx.Err() != nil {
			return d, context.Cause(ctx)
		}
		err := declare(conn, func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare(queue, d.durable, false, false, false, d.args)
			return err
		})
		if err == nil {
			return d, nil
		}
		if !errors.As(err, &e) {
			return d, err
		}
		if e.Code != amqp.PreconditionFailed || !d.learn(e.Reason) {
			d.unknown = "the broker says: " + wire.Visible(e.Reason)
			return d, nil
		}
	}
	d.unknown = fmt.Sprintf("it has more than %d arguments", most)
	return d, nil
}

// declare runs f on a channel that its refusal may close.
func declare(conn *amqp.Connection, f func(*amqp.Channel) error) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	err = f(ch)
	if !ch.IsClosed() {
		err = errors.Join(err, ch.Close())
	}
	return err
}

var inequivalent = regexp.MustCompile(`inequivalent arg '([^']+)' for queue .*: received .* but current is (?:the value '(.*)' of type '([a-z]+)'|'(.*)'|(none))$`)

// learn takes what a refusal says of one argument; false where it says nothing new.
func (d *declaration) learn(reason string) bool {
	m := inequivalent.FindStringSubmatch(reason)
	if m == nil {
		return false
	}
	name, value, kind := m[1], m[2], m[3]
	if name == "durable" {
		was := d.durable
		d.durable = m[4] == "true"
		return d.durable != was
	}
	if _, known := d.args[name]; known || kind == "" {
		return false
	}
	switch kind {
	case "longstr", "shortstr":
		d.args[name] = value
		return true
	case "bool":
		d.args[name] = value == "true"
		return true
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	d.args[name] = n
	return true
}

// kind is the queue's type.
func (d declaration) kind() string {
	if s, ok := d.args["x-queue-type"].(string); ok {
		return s
	}
	return "classic"
}

// number reads a whole number out of the arguments; 0 where there is none.
func (d declaration) number(name string) int64 {
	n, _ := d.args[name].(int64)
	return n
}

const deadLetterExchange = "x-dead-letter-exchange"

// deadLetters reports whether the queue has a dead-letter exchange.
func (d declaration) deadLetters() bool { _, ok := d.args[deadLetterExchange]; return ok }
