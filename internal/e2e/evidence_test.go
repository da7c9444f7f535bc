//go:build unix

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// clean fails where a text holds what could steer a terminal or mislead a reader,
// or one of the secrets. With lines, line ends are the text's own.
func clean(t *testing.T, where, text string, secrets ...string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: invalid UTF-8", where)
	}
	for i, r := range text {
		if r == '\n' || r == '\t' {
			continue
		}
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			t.Errorf("%s: %U at %d, after %q", where, r, i, tail(text[:i], 60))
			break
		}
	}
	for _, secret := range secrets {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s: the secret %q after %q", where, secret, tail(text[:i], 60))
		}
	}
}

func TestEvidenceIsBoundedAndCleanEverywhere(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	secrets := []string{deadToken, "hunter2", "s3cr3tcookie", "AKIAqueryt0ken"}
	evil := "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\u2066\u009b31m\x00\x7f\xff\xfe\r\n" +
		"Authorization: Bearer " + deadToken + "\nCookie: session=s3cr3tcookie\npassword=hunter2 " +
		"https://ops:hunter2@crm.example/x?access_token=AKIAqueryt0ken&page=2\n" + `{"password":"hunter2"}` + "\nthe cause"
	evil += strings.Repeat(" padding "+deadToken, 1<<20/25)
	s.vendor.saying(func(c call) answer {
		if strings.HasPrefix(c.business, "gone") {
			return answer{status: 403, body: evil}
		}
		return answer{status: 401, body: evil}
	})
	s.token(deadToken)
	s.start(2, s.config("traction.yaml", oneGate))
	s.dispatch(contacts, "gone", 0, 2) // parked with the evidence
	s.until("two parked", func() bool { return s.look().Parked == 2 })
	s.dispatch(contacts, "c", 0, 10)
	s.becomes(governor.Stopped)
	s.hook.tells(t, 1, wire.GroundStop)
	s.waits(10)

	for _, args := range [][]string{
		{"status"}, {"airport", "list"}, {"airport", "show", airport}, {"gate", "list"}, {"gate", "show", contacts},
		{"incident", "list"}, {"incident", "show", airport}, {"parked", "list", airport}, {"parked", "list", airport, "--group-by", "evidence"},
	} {
		for _, format := range []string{"table", "json", "jsonl"} {
			out, errOut, code := s.ctl("", append(args, "-o", format)...)
			where := "tractionctl " + strings.Join(args, " ") + " -o " + format
			if code != 0 {
				t.Errorf("%s: exit %d\n%s", where, code, errOut)
			}
			clean(t, where, out+errOut, secrets...)
			if len(out) > 16<<10 {
				t.Errorf("%s: %d bytes", where, len(out))
			}
		}
	}
	if list := s.incidents("--open"); len(list) != 1 || list[0].Evidence == "" || len(list[0].Evidence) > 1024 {
		t.Errorf("incidents: %+v", list)
	}
	for _, n := range s.hook.of("") {
		clean(t, "the webhook's body", string(n.raw), secrets...)
		clean(t, "the webhook's evidence", n.Evidence, secrets...)
		clean(t, "the webhook's text", n.Text, secrets...)
		if len(n.Evidence) > 1024 || len(n.raw) > 8<<10 {
			t.Errorf("the webhook's body has %d bytes, its evidence %d", len(n.raw), len(n.Evidence))
		}
	}
	b := s.close(true)
	if len(b.parkedCopies) != 2 {
		t.Errorf("%d parked copies, want 2", len(b.parkedCopies))
	}
	for _, d := range b.parkedCopies {
		for name, v := range d.Headers {
			clean(t, "the parked header "+name, fmt.Sprint(v), secrets...)
		}
		if ev, _ := d.Headers[wire.HeaderEvidence].(string); ev == "" || len(ev) > 1024+64 || !strings.Contains(ev, "403") {
			t.Errorf("the parked evidence has %d bytes: %.80q", len(ev), ev)
		}
	}
	for _, w := range s.workers {
		clean(t, "a worker's log", w.log.String()+w.out.String(), secrets...)
	}
}

func TestPasswordsOfURLsNeverShow(t *testing.T) {
	t.Parallel()
	testsvc.Need(t)
	const secret = "sw0rdfish-in-url"
	store := testsvc.Redis(t, "--requirepass", secret)
	s := newSite(t, "", "redis://:"+secret+"@"+store.Addr+"/0")
	s.vendorURL = strings.Replace(s.vendorURL, "://", "://ops:"+secret+"@", 1)
	s.hookURL += "/" + secret
	s.vendor.saying(func(call) answer { return answer{status: 401} })
	file := s.config("traction.yaml", oneGate)
	s.start(1, file)
	s.dispatch(contacts, "c", 0, 5)
	s.becomes(governor.Stopped)
	s.hook.tells(t, 1, wire.GroundStop)
	shown := s.do("status") + s.do("incident", "list", "-o", "json")
	_, errOut, _ := s.ctl(`{}`, "dispatch", contacts)
	s.sent["{}"] = true
	shown += errOut

	// Wrong passwords, in the ways a service refuses them, and a service that is away.
	amqpURL, redisURL := s.amqp, s.redis
	s.amqp = strings.Replace(amqpURL, "guest:guest@", "guest:"+secret+"@", 1)
	out, errOut, code := s.ctl("", "status", "--timeout", "5s")
	if code == 0 {
		t.Error("status with a wrong password of the broker: exit 0")
	}
	shown += out + errOut
	refused := start(t, s.config("refused.yaml", oneGate))
	s.amqp, s.redis = amqpURL, "redis://:wrong-"+secret+"@"+store.Addr+"/0"
	out, errOut, code = s.ctl("", "status", "--timeout", "5s")
	if code == 0 {
		t.Error("status with a wrong password of the store: exit 0")
	}
	shown += out + errOut
	s.redis = redisURL
	s.until("the refused worker to say so", func() bool { return strings.Contains(refused.log.String(), "try=1") || refused.gone() })
	store.Kill()
	s.until("the worker to miss the store", func() bool { return strings.Contains(s.workers[0].log.String(), "the store does not answer") })
	out, errOut, _ = s.ctl("", "airport", "reopen", airport, "--timeout", "3s")
	clean(t, "what tractionctl shows", shown+out+errOut, secret)
	for _, w := range []*worker{s.workers[0], refused} {
		pid := w.cmd.Process.Pid
		for _, name := range []string{"cmdline", "comm"} {
			if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)); err == nil && strings.Contains(string(b), secret) {
				t.Errorf("the worker's %s shows the password: %q", name, b)
			}
		}
		clean(t, "the worker's log", w.log.String()+w.out.String(), secret)
	}
	for _, n := range s.hook.of("") {
		clean(t, "the webhook's body", string(n.raw), secret)
	}
	refused.kill()
	store.Start()
	s.close(true)
}
