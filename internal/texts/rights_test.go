package texts

import (
	"context"
	"log/slog"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

var permissions = regexp.MustCompile(`rabbitmqctl set_permissions -p / \S+ '([^']+)' '([^']+)' '([^']+)'`)

// TestBrokerRights lets a worker, a tower and an operator do all they do with the
// permissions that docs/operations.md gives them, and nothing more.
func TestBrokerRights(t *testing.T) {
	testsvc.Need(t)
	m := permissions.FindStringSubmatch(find(t, "docs/operations.md").text)
	if m == nil {
		t.Fatal("docs/operations.md does not say which permissions the broker's user needs")
	}
	proc := testsvc.RabbitMQ(t)
	store := testsvc.Redis(t)
	proc.Ctl("add_user", "traction", "secret")
	proc.Ctl("set_permissions", "-p", "/", "traction", m[1], m[2], m[3])
	u, err := url.Parse(proc.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("traction", "secret")
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	cfg := governor.Config{AMQP: u.String(), Redis: store.URL(), Logger: slog.New(slog.DiscardHandler)}
	worker, err := governor.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	airport := governor.Airport{
		ID: "crm:acme",
		Gates: []governor.Gate{{ID: "sync", Pilot: governor.PilotFunc(func(_ context.Context, f governor.Flight[[]byte]) error {
			if f.Replays > 0 {
				return nil
			}
			return answers[string(f.Payload)]
		})}},
	}
	airport.Holds.Transient = []time.Duration{100 * time.Millisecond}
	run, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(run, airport) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := worker.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	operator, err := governor.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := operator.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	gate := func(what string, cond func(g governor.GateInfo) bool) {
		t.Helper()
		var g governor.GateInfo
		defer func() {
			if t.Failed() {
				t.Logf("at last: %+v", g)
			}
		}()
		testsvc.Until(t, 30*time.Second, what, func() (met bool) {
			var err error
			g, err = operator.Gate(ctx, "crm:acme/sync")
			return err == nil && cond(g)
		})
	}
	gate("an open gate", func(g governor.GateInfo) bool { return g.State == governor.OpenState })
	for payload := range answers {
		// A gate is open a moment before its runway stands.
		testsvc.Until(t, 30*time.Second, "a dispatch", func() bool {
			_, err := operator.Dispatch(ctx, "crm:acme/sync", []byte(payload))
			return err == nil
		})
	}
	// Landed one, rejected one, parked one after a hold and one at once.
	gate("every settlement", func(g governor.GateInfo) bool {
		return g.Landed == 1 && g.Rejected == 1 && g.Parked == 2
	})
	if _, err := operator.Pause(ctx, "crm:acme", governor.PauseOptions{Reason: "rights"}); err != nil {
		t.Errorf("pause: %v", err)
	}
	if _, err := operator.Reopen(ctx, "crm:acme", governor.ReopenOptions{}); err != nil {
		t.Errorf("reopen: %v", err)
	}
	if all, err := operator.Parked(ctx, "crm:acme", governor.ParkedFilter{}); err != nil || len(all) != 2 {
		t.Errorf("parked: %v, %v", all, err)
	}
	// What a look had in hand may be on its way back still.
	moved := 0
	testsvc.Until(t, 30*time.Second, "a replay of two", func() bool {
		r, err := operator.Replay(ctx, governor.ParkedShelf, "crm:acme", governor.MoveOptions{})
		if err != nil {
			t.Errorf("replay: %+v, %v", r, err)
		}
		moved += r.Moved
		return moved == 2
	})
	gate("the replayed flights to land", func(g governor.GateInfo) bool { return g.Landed == 3 && g.Parked == 0 })
}

// answers are what the pilot says to a payload.
var answers = map[string]error{
	"good":    nil,
	"bad":     &governor.StatusError{Code: 422},
	"blip":    &governor.StatusError{Code: 503},
	"changed": &governor.StatusError{Code: 404},
}
