package wire

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DefaultNamespace is the namespace of an installation that names none.
const DefaultNamespace Namespace = "tr"

// DeliveryLimit is the explicit limit every queue is declared with: as good as
// none, and the same on every broker version. -1 drops at the first return on
// RabbitMQ 3.10; no argument at all drops at the 20th on 4.0.
const DeliveryLimit = 1_000_000

// DefaultRejectedKeep is how long a rejected record is kept.
const DefaultRejectedKeep = 7 * 24 * time.Hour

// Namespace starts everything that two teams on one broker or store could share.
type Namespace string

// MaxNamespace is the longest namespace, in bytes.
const MaxNamespace = 32

// ParseNamespace refuses anything but 1 to 32 characters of a-z 0-9 and -, and
// the namespace amq, whose names the broker keeps for itself.
func ParseNamespace(s string) (Namespace, error) {
	refused := fmt.Errorf("namespace %q: use 1 to %d characters of a-z 0-9 -: %w", bound(s, 80), MaxNamespace, ErrName)
	if len(s) == 0 || len(s) > MaxNamespace {
		return "", refused
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return "", refused
		}
	}
	if s == "amq" {
		return "", fmt.Errorf("namespace %q: the broker refuses names that start with amq., use another: %w", s, ErrName)
	}
	return Namespace(s), nil
}

func (n Namespace) dot(name string) string { return string(n) + "." + name }

// The exchanges. All are durable.

// RunwayExchange is direct; the routing key is the gate, as airport/gate.
func (n Namespace) RunwayExchange() string { return n.dot("runway") }

// ReturnExchange is direct and takes what comes back from a hold; its alternate
// exchange is UnroutableExchange.
func (n Namespace) ReturnExchange() string { return n.dot("return") }

// ParkedExchange is direct, by gate.
func (n Namespace) ParkedExchange() string { return n.dot("parked") }

// RejectedExchange is direct, by gate.
func (n Namespace) RejectedExchange() string { return n.dot("rejected") }

// ReportsExchange is a topic; ReportKey is its routing key.
func (n Namespace) ReportsExchange() string { return n.dot("reports") }

// ReportKey is the routing key of a message of reports: <outcome>.<airport>/<gate>.
func ReportKey(outcome string, gate Scope) string { return outcome + "." + gate.String() }

// Unapplied stands in ReportKey's place of the outcome for reports whose step
// the tower has to settle, and UnappliedBinding is how it asks for them.
const (
	Unapplied        = "unapplied"
	UnappliedBinding = "unapplied.#"
)

// LimitExchange is a fanout that takes what hit a runway's delivery limit.
func (n Namespace) LimitExchange() string { return n.dot("limit") }

// UnroutableExchange is a fanout behind ReturnExchange.
func (n Namespace) UnroutableExchange() string { return n.dot("unroutable") }

// Hold names a delay's fanout exchange and its queue, which share the name.
func (n Namespace) Hold(d time.Duration) string { return n.dot("hold." + ShortDuration(d)) }

// BornExchange is the marker of a scope that was once declared.
func (n Namespace) BornExchange(s Scope) string { return n.dot(s.String() + ".born") }

// The queues. All are durable quorum queues with an explicit delivery limit.

// Runway is the queue a gate's flights wait on.
func (n Namespace) Runway(gate Scope) string { return n.dot(gate.String() + ".runway") }

// Parked is the queue of a gate's parked flights.
func (n Namespace) Parked(gate Scope) string { return n.dot(gate.String() + ".parked") }

// Rejected is the queue of a gate's rejected records; how long they are kept
// stands in its name, so that a change of it never meets the old declaration.
func (n Namespace) Rejected(gate Scope, keep time.Duration) string {
	return n.dot(gate.String() + ".rejected." + ShortDuration(keep))
}

// LimitQueue is bound to LimitExchange; a tower empties it.
func (n Namespace) LimitQueue() string { return n.dot("limit") }

// UnroutableQueue is bound to UnroutableExchange; a tower empties it.
func (n Namespace) UnroutableQueue() string { return n.dot("unroutable") }

// TowerQueue takes reports of data planes that cannot run the scripts; it is
// bound to ReportsExchange by UnappliedBinding.
func (n Namespace) TowerQueue() string { return n.dot("tower.queue") }

// UnreadableQueue keeps what a tower could not read.
func (n Namespace) UnreadableQueue() string { return n.dot("tower.unreadable") }

// ShortDuration writes a duration without zero parts: 30s, 2m, 10m, 1h30m, 7d,
// 200ms. It is what stands in queue names.
func ShortDuration(d time.Duration) string {
	if d <= 0 {
		return "0s"
	}
	var b strings.Builder
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if n := d / u.unit; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
			b.WriteString(u.name)
			d -= n * u.unit
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}
