package rabbit

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

func TestConvert(t *testing.T) {
	m := wire.Message{
		ID: "id", Type: "type", ContentType: "ct", ContentEncoding: "ce", CorrelationID: "c", ReplyTo: "r", AppID: "a",
		Priority: 9, Timestamp: time.Unix(1, 0), Body: []byte("body"),
		Headers: map[string]any{
			"t": map[string]any{"in": []any{broker.Decimal{Scale: 1, Value: 2}, map[string]any{}}},
		},
		Expiration: "1000", UserID: "somebody",
	}
	p := toAMQP(m)
	if p.DeliveryMode != amqp.Persistent || p.Expiration != "" || p.UserId != "" {
		t.Errorf("mode %d, expiration %q, user %q", p.DeliveryMode, p.Expiration, p.UserId)
	}
	if err := p.Headers.Validate(); err != nil {
		t.Error(err)
	}
	back := fromAMQP(&amqp.Delivery{
		Headers: p.Headers, ContentType: p.ContentType, ContentEncoding: p.ContentEncoding, Priority: p.Priority,
		CorrelationId: p.CorrelationId, ReplyTo: p.ReplyTo, MessageId: p.MessageId, Timestamp: p.Timestamp, Type: p.Type,
		AppId: p.AppId, Body: p.Body, Expiration: "1000", UserId: "somebody",
	})
	if !reflect.DeepEqual(back, m) {
		t.Errorf("came back as\n%#v\nwant\n%#v", back, m)
	}
	if got := toField(1 << 40); got != int64(1<<40) {
		t.Errorf("an int became %T %v", got, got)
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		err  error
		want error
	}{
		{&amqp.Error{Code: 404, Reason: "NOT_FOUND - no queue 'q' in vhost '/'"}, broker.ErrNoQueue},
		{&amqp.Error{Code: 404, Reason: "NOT_FOUND - no exchange 'x' in vhost '/'"}, broker.ErrNoExchange},
		// It exists: to call it missing would invite to make another.
		{&amqp.Error{Code: 404, Reason: "NOT_FOUND - home node 'n' of durable queue 'q' in vhost '/' is down or inaccessible"}, broker.ErrUnreachable},
		{&amqp.Error{Code: 406, Reason: "PRECONDITION_FAILED - inequivalent arg"}, broker.ErrMismatch},
		{&amqp.Error{Code: 403, Reason: "ACCESS_REFUSED"}, broker.ErrRefused},
		{amqp.ErrClosed, broker.ErrUnreachable},
		{errors.New("reset by peer"), broker.ErrUnreachable},
		{broker.ErrClosed, broker.ErrClosed},
	} {
		if got := classify(c.err); !errors.Is(got, c.want) {
			t.Errorf("%v became %v, want %v", c.err, got, c.want)
		}
	}
	if classify(nil) != nil {
		t.Error("nil became an error")
	}
}

func TestReturnsMatchWhatTheyShow(t *testing.T) {
	p := &pipe{out: map[*job]struct{}{}}
	pub := func(key, id, body string) broker.Publishing {
		return broker.Publishing{Exchange: "x", Key: key, Message: wire.Message{ID: id, Body: []byte(body)}}
	}
	j := &job{msgs: []broker.Publishing{pub("k", "1", "a"), pub("k", "1", "b"), pub("other", "1", "a"), pub("k", "2", "a")}, returned: make([]bool, 4)}
	p.out[j] = struct{}{}
	p.note(amqp.Return{Exchange: "x", RoutingKey: "k", MessageId: "1", Body: []byte("b")})
	if want := []bool{false, true, false, false}; !reflect.DeepEqual(j.returned, want) {
		t.Errorf("%v, want %v", j.returned, want)
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]Config{
		"URLs":        {},
		"Name":        {URLs: []string{"amqp://h"}, Name: strings.Repeat("x", 129)},
		"CallTimeout": {URLs: []string{"amqp://h"}, CallTimeout: -1},
	} {
		if _, err := c.withDefaults(); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s named", err, name)
		}
	}
	c, err := Config{URLs: []string{"amqp://h"}}.withDefaults()
	if err != nil || c.CallTimeout != 10*time.Second || c.ConfirmTimeout != 30*time.Second || c.Channels != 100 || c.PerChannel != 50 || c.Logger == nil {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestSubscriptionsSpreadBeforeTheyShare(t *testing.T) {
	for _, c := range []struct {
		loads                []int
		channels, perChannel int
		want                 int
	}{
		{nil, 3, 2, -1},              // the first
		{[]int{1, 1}, 3, 2, -1},      // another channel before any is shared
		{[]int{1, 0}, 3, 2, 1},       // one that was left is taken again
		{[]int{2, 1, 1}, 3, 2, 1},    // the one with the most room
		{[]int{2, 2, 2}, 3, 2, -1},   // all full: one more
		{[]int{2, 2, 2, 1}, 3, 2, 3}, // which is then filled
		{[]int{1}, 0, 2, 0},          // a broker that allows few
		{[]int{2}, 0, 2, -1},
	} {
		if got := roomiest(c.loads, c.channels, c.perChannel); got != c.want {
			t.Errorf("roomiest(%v, %d, %d) is %d, want %d", c.loads, c.channels, c.perChannel, got, c.want)
		}
	}
}
