package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
)

// look asks the broker about queues.
type look struct {
	conn *amqp.Connection
	ch   *amqp.Channel
}

func (b *bench) look() (*look, error) {
	conn, err := amqp.Dial(b.amqp)
	return &look{conn: conn}, err
}

// consumers counts a queue's consumers. A queue that is not there yet has none.
func (l *look) consumers(queue string) (int, error) {
	if l.ch == nil || l.ch.IsClosed() {
		var err error
		if l.ch, err = l.conn.Channel(); err != nil {
			return 0, err
		}
	}
	q, err := l.ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	var missing *amqp.Error
	if errors.As(err, &missing) && missing.Code == amqp.NotFound {
		return 0, nil
	}
	return q.Consumers, err
}

// client asks the store.
func (b *bench) client() (*redis.Client, error) {
	o, err := redis.ParseURL(b.redis)
	if err != nil {
		return nil, err
	}
	return redis.NewClient(o), nil
}

// infoOf reads a number of what the store tells of itself.
func infoOf(ctx context.Context, rdb *redis.Client, section, name string) (int, error) {
	info, err := rdb.Info(ctx, section).Result()
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(info, "\n"+name+":")
	n, _, _ := strings.Cut(rest, "\r\n")
	return strconv.Atoi(n)
}
