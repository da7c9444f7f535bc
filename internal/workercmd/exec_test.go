package workercmd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// programs makes a site whose gate is a program, a script beside the configuration.
func programs(t *testing.T, script, more string) (s *site, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("programs with a memory ceiling are flown on Linux")
	}
	s = newSite(t)
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Dir(s.file)
	before, _, _ := strings.Cut(string(text), "        http:")
	write(t, s.file, before+"        exec: {command: [./sync], memory: 64MiB, env: {DIR: "+dir+", TOKEN: '${file:token.txt}'}}\n"+more)
	if err := os.WriteFile(filepath.Join(dir, "sync"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func files(dir, pattern string) int {
	all, _ := filepath.Glob(filepath.Join(dir, pattern))
	return len(all)
}

func TestWorkerFliesThroughPrograms(t *testing.T) {
	s, dir := programs(t, `
cat > "$DIR/landed-$TRACTION_BUSINESS_ID.json"
[ -z "$TRACTION_AMQP_URL$TRACTION_REDIS_URL" ] || exit 1
case $TRACTION_BUSINESS_ID in
3) echo "no such contact, says $TOKEN" >&2; exit 65 ;;
7) exit 5 ;;
esac
`, "    outcomes: {exit: {5: FLIGHT_FAULT}}\n")
	w := startWorker(t, s.file)
	testsvc.Until(t, patience, "the worker is ready", func() bool { code, _ := w.get("/readyz"); return code == 200 })
	s.dispatch(t, 0, 20)
	testsvc.Until(t, patience, "20 settled", func() bool {
		_, m := w.get("/metrics")
		return strings.Contains(m, `traction_flights_total{airport="crm:acme",gate="contact-sync",settlement="landed"} 18`) &&
			strings.Contains(m, `traction_flights_total{airport="crm:acme",gate="contact-sync",settlement="rejected"} 2`)
	})
	if got, err := os.ReadFile(filepath.Join(dir, "landed-4.json")); err != nil || string(got) != `{"id":"4"}` {
		t.Errorf("%q, %v", got, err)
	}
	w.signal(syscall.SIGTERM)
	w.exits(0)
	if strings.Contains(w.log.String(), "good-token") {
		t.Error("the credential is in the log")
	}
}

// TestWorkerOutlivesItsProgram has one record kill whatever flies it: the second
// death parks it, the worker and everything else live.
func TestWorkerOutlivesItsProgram(t *testing.T) {
	s, dir := programs(t, `
if [ $TRACTION_BUSINESS_ID = 3 ]; then
	: > "$DIR/death-$$"
	kill -SEGV $$
fi
: > "$DIR/landed-$TRACTION_BUSINESS_ID"
`, "")
	w := startWorker(t, s.file)
	testsvc.Until(t, patience, "the worker is ready", func() bool { code, _ := w.get("/readyz"); return code == 200 })
	s.dispatch(t, 0, 10)
	testsvc.Until(t, patience, "the pill is told", func() bool { return len(s.hook.of("POISON_PILL")) > 0 })
	if n := files(dir, "death-*"); n != 2 {
		t.Errorf("%d deaths, want 2", n)
	}
	testsvc.Until(t, patience, "nine landed", func() bool { return files(dir, "landed-*") == 9 })
	// It is told in the step that convicts it; its copy is parked right after.
	var parked []governor.ParkedFlight
	testsvc.Until(t, patience, "the pill is parked", func() bool {
		var err error
		parked, err = s.gov.Parked(t.Context(), gate, governor.ParkedFilter{})
		return err == nil && len(parked) > 0
	})
	if len(parked) != 1 || parked[0].Reason != "POISON_PILL" || parked[0].BusinessID != "3" {
		t.Errorf("parked %+v", parked)
	}
	w.signal(syscall.SIGTERM)
	w.exits(0)
}

func TestWorkersProgramsEndWithASecondSignal(t *testing.T) {
	s, dir := programs(t, `
sleep 300 &
echo $$ $! > "$DIR/pids.tmp"
mv "$DIR/pids.tmp" "$DIR/pids"
wait
`, "")
	w := startWorker(t, s.file)
	testsvc.Until(t, patience, "the worker is ready", func() bool { code, _ := w.get("/readyz"); return code == 200 })
	s.dispatch(t, 0, 1)
	var parent, child int
	testsvc.Until(t, patience, "the program runs", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "pids"))
		n, _ := fmt.Sscan(string(text), &parent, &child)
		return n == 2
	})
	w.signal(syscall.SIGTERM)
	testsvc.Until(t, patience, "the drain", func() bool { code, _ := w.get("/readyz"); return code == 503 })
	if _, err := os.Stat("/proc/" + strconv.Itoa(parent)); err != nil {
		t.Error("the drain did not let it finish")
	}
	w.signal(syscall.SIGTERM)
	w.exits(143)
	for _, pid := range []int{parent, child} {
		testsvc.Until(t, patience, "its end", func() bool {
			text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			return err != nil || strings.Contains(string(text), ") Z ")
		})
	}
}
