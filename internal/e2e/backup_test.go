//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/backup"
	"github.com/traction-go/traction/internal/testsvc"
)

// saved is a queue that a test backs up: n messages, each with its number.
type saved struct {
	t     *testing.T
	ch    *amqp.Channel
	queue string
	n     int
	dir   string
	env   []string
}

func newSaved(t *testing.T, n int, args amqp.Table) *saved {
	t.Helper()
	testsvc.Need(t)
	s := &saved{t: t, queue: testsvc.Namespace(t) + "-saved", n: n, dir: t.TempDir()}
	s.env = append(os.Environ(), "TRACTION_AMQP_URL="+testsvc.SharedRabbitMQ(t), "TRACTION_REDIS_URL="+testsvc.SharedRedis(t), "HOME="+s.dir)
	conn, err := amqp.Dial(testsvc.SharedRabbitMQ(t))
	if err != nil {
		t.Fatal(err)
	}
	if s.ch, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.ch.QueueDelete(s.queue, false, false, false); _ = conn.Close() })
	if _, err := s.ch.QueueDeclare(s.queue, true, false, false, false, args); err != nil {
		t.Fatal(err)
	}
	if err := s.ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("payload "), 500)
	var last []*amqp.DeferredConfirmation
	for i := range n {
		c, err := s.ch.PublishWithDeferredConfirm("", s.queue, true, false, amqp.Publishing{DeliveryMode: 2, MessageId: fmt.Sprint(i), Body: body})
		if err != nil {
			t.Fatal(err)
		}
		if last = append(last, c); len(last) == 1000 {
			last[0].Wait()
			last = last[1:]
		}
	}
	for _, c := range last {
		if !c.Wait() {
			t.Fatal("not confirmed")
		}
	}
	return s
}

// back waits until the broker has every message back. What a consumer that was killed
// had in hand is neither ready nor seen by anybody until then.
func (s *saved) back() {
	s.t.Helper()
	testsvc.Until(s.t, 2*long, "all messages back on the queue", func() bool {
		q, err := s.ch.QueueDeclarePassive(s.queue, true, false, false, false, nil)
		return err == nil && q.Messages == s.n && q.Consumers == 0
	})
}

// begin starts a backup of all and returns when it is in the middle.
func (s *saved) begin(file string) *exec.Cmd {
	s.t.Helper()
	s.back()
	cmd := exec.Command(ctlBin, "queue", "backup", s.queue, filepath.Join(s.dir, file))
	cmd.Env = s.env
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill() })
	testsvc.Until(s.t, 2*long, "a backup in the middle", func() bool {
		parts, err := filepath.Glob(filepath.Join(s.dir, "."+file+".part-*"))
		if err != nil || len(parts) != 1 {
			return false
		}
		st, err := os.Stat(parts[0])
		return err == nil && st.Size() > 1<<20
	})
	return cmd
}

// whole wants every message on the queue once, by a backup of it.
func (s *saved) whole(file string) {
	s.t.Helper()
	s.back()
	path := filepath.Join(s.dir, file)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, ctlBin, "queue", "backup", s.queue, path)
	cmd.Env = s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	r, err := backup.NewReader(f)
	if err != nil {
		s.t.Fatal(err)
	}
	seen := map[string]bool{}
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if seen[m.ID] {
			s.t.Fatalf("message %s is there twice", m.ID)
		}
		seen[m.ID] = true
	}
	if len(seen) != s.n {
		s.t.Fatalf("%d of %d messages are left", len(seen), s.n)
	}
}

// A backup that is killed in the middle, or interrupted, loses nothing and leaves
// nothing that looks like a backup.
func TestAKilledBackupLosesNothing(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]amqp.Table{
		"quorum":  {"x-queue-type": "quorum", "x-delivery-limit": int64(1_000_000)},
		"classic": {"x-max-priority": int32(3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSaved(t, 12_000, args)
			killed := s.begin("killed")
			if err := killed.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = killed.Wait()
			interrupted := s.begin("interrupted")
			if err := interrupted.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			_ = interrupted.Wait()
			if code := interrupted.ProcessState.ExitCode(); code != 130 {
				t.Errorf("a backup that was interrupted exits with %d, want 130", code)
			}
			for _, file := range []string{"killed", "interrupted"} {
				if _, err := os.Stat(filepath.Join(s.dir, file)); !os.IsNotExist(err) {
					t.Errorf("%s left a backup: %v", file, err)
				}
			}
			if parts, _ := filepath.Glob(filepath.Join(s.dir, ".interrupted.*")); len(parts) != 0 {
				t.Errorf("left over: %v", parts)
			}
			s.whole("whole")
		})
	}
}

// A restore that is interrupted, again and again, puts each message on the queue once,
// and what it says is what is there.
func TestAnInterruptedRestoreDoublesNothing(t *testing.T) {
	t.Parallel()
	const n = 12_000
	s := newSaved(t, n, amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int64(1_000_000)})
	s.whole("saved")
	if _, err := s.ch.QueuePurge(s.queue, false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, "saved")
	there := 0
	for round := 0; there < n; round++ {
		if round > n/1000+1 {
			t.Fatalf("%d rounds, and %d of %d are there", round, there, n)
		}
		cmd := exec.Command(ctlBin, "queue", "restore", path, "-o", "json")
		var out, errs bytes.Buffer
		cmd.Env, cmd.Stdout, cmd.Stderr = s.env, &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		counted := func() int {
			q, err := s.ch.QueueDeclarePassive(s.queue, true, false, false, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			return q.Messages
		}
		running := true
		testsvc.Until(t, 2*long, "a batch to be on its way, or the end", func() bool {
			select {
			case <-ended:
				running = false
				return true
			default:
				return round > 2 || counted() > there // after a few the rest goes in one
			}
		})
		if running {
			if round <= 2 {
				_ = cmd.Process.Signal(syscall.SIGINT) // it may be over by now
			}
			<-ended
		}
		var r struct{ Restored, Skipped, Left, Unconfirmed int }
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v\n%s%s", err, &out, &errs)
		}
		if r.Skipped != there || r.Unconfirmed != 0 || r.Restored+r.Skipped+r.Left != n {
			t.Errorf("round %d says %+v; %d were there", round, r, there)
		}
		there += r.Restored
		testsvc.Until(t, 2*long, fmt.Sprintf("%d messages on the queue", there), func() bool { return counted() == there })
	}
	s.whole("again")
}
