package throwaway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// Name makes a namespace that no other run has. prefix says what it was for, to
// whoever finds one that was left behind.
func Name(prefix string) string {
	var id [4]byte
	rand.Read(id[:]) // never fails: crypto/rand ends the process first
	return prefix + "-" + hex.EncodeToString(id[:])
}

// Taken says what stands in a namespace, "" for nothing. queues are those that the
// run has beside what every installation has.
func Taken(ctx context.Context, ns wire.Namespace, bk broker.Declarer, st *store.Store, queues ...string) (why string, err error) {
	keys, err := st.CountKeys(ctx)
	if err != nil {
		return "", Unreachable(err)
	}
	if keys > 0 {
		return fmt.Sprintf("the store has %d keys of it", keys), nil
	}
	for _, x := range []string{ns.RunwayExchange(), ns.ReturnExchange(), ns.ParkedExchange(), ns.RejectedExchange(), ns.ReportsExchange()} {
		stands, err := bk.HasExchange(ctx, x)
		if err != nil {
			return "", Unreachable(err)
		}
		if stands {
			return "the broker has its exchange " + x, nil
		}
	}
	for _, q := range append([]string{ns.LimitQueue(), ns.UnroutableQueue(), ns.TowerQueue(), ns.UnreadableQueue()}, queues...) {
		_, stands, err := bk.Depth(ctx, q)
		if err != nil {
			return "", Unreachable(err)
		}
		if stands {
			return "the broker has its queue " + q, nil
		}
	}
	return "", nil
}

// Unreachable gives an error of the broker or the store its public class.
func Unreachable(err error) error {
	if errors.Is(err, broker.ErrUnreachable) || errors.Is(err, store.ErrUnreachable) {
		return fmt.Errorf("%w: %w", governor.ErrUnreachable, err)
	}
	return err
}

// DialAMQP connects to the first of the endpoints, separated by commas, that answers:
// for what the transport has no words for.
func DialAMQP(urls string) (*amqp.Connection, error) {
	var errs []error
	for url := range strings.SplitSeq(urls, ",") {
		url = strings.TrimSpace(url)
		conn, err := amqp.DialConfig(url, amqp.Config{Heartbeat: 10 * time.Second, Dial: amqp.DefaultDial(10 * time.Second)})
		if err == nil {
			return conn, nil
		}
		errs = append(errs, fmt.Errorf("connect to RabbitMQ at %s: %s", wire.MaskURL(url), wire.Mask(err.Error())))
	}
	return nil, fmt.Errorf("%w: %w", governor.ErrUnreachable, errors.Join(errs...))
}
