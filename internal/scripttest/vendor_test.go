package scripttest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds what a script waits for.
const patience = 90 * time.Second

// vendor is the third party that a script's flights call. It answers each path as
// it is told to and counts the calls.
type vendor struct {
	mu      sync.Mutex
	answers map[string]int // by path; "" for the others
	refuse  string         // a body with this in it is answered 422
	slow    time.Duration
	quicker chan struct{}  // closed when it is told another pace: calls that wait end then
	calls   map[string]int // by status
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	v.mu.Lock()
	status, ok := v.answers[r.URL.Path]
	if !ok {
		status = v.answers[""]
	}
	if status == http.StatusOK && v.refuse != "" && strings.Contains(string(body), v.refuse) {
		status = http.StatusUnprocessableEntity
	}
	v.calls[strconv.Itoa(status)]++
	slow, quicker := v.slow, v.quicker
	v.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-quicker:
		case <-r.Context().Done():
		}
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"status":%d}`, status)
}

// startVendor gives the script a vendor at $VENDOR.
func startVendor(e *testscript.Env) {
	v := &vendor{answers: map[string]int{"": http.StatusOK}, calls: map[string]int{}, quicker: make(chan struct{})}
	srv := httptest.NewServer(v)
	e.Defer(func() { srv.CloseClientConnections(); srv.Close() })
	e.Setenv("VENDOR", srv.URL)
	e.Values[vendorKey{}] = v
}

type vendorKey struct{}

// steer is the script's command `vendor`.
func steer(ts *testscript.TestScript, neg bool, args []string) {
	v, ok := ts.Value(vendorKey{}).(*vendor)
	if neg || !ok || len(args) < 1 {
		ts.Fatalf("usage: vendor answers STATUS [PATH] | refuses TEXT | takes DURATION | saw STATUS N")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case args[0] == "answers" && (len(args) == 2 || len(args) == 3):
		status, err := strconv.Atoi(args[1])
		ts.Check(err)
		v.answers[strings.Join(args[2:], "")] = status
	case args[0] == "refuses" && len(args) == 2:
		v.refuse = args[1]
	case args[0] == "takes" && len(args) == 2:
		d, err := time.ParseDuration(args[1])
		ts.Check(err)
		v.slow = d
		close(v.quicker)
		v.quicker = make(chan struct{})
	case args[0] == "saw" && len(args) == 3:
		if got := strconv.Itoa(v.calls[args[1]]); got != args[2] {
			ts.Fatalf("the vendor answered %s %s times, want %s; all: %v", args[1], got, args[2], v.calls)
		}
	default:
		ts.Fatalf("vendor: cannot read %q", args)
	}
}

// eventually runs a program again and again until its stdout matches. The real
// processes tell nobody when they are ready.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN program [args...]")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for {
		err := ts.Exec(args[1], args[2:]...)
		if out := ts.ReadFile("stdout"); err == nil && re.MatchString(out) {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			ts.Fatalf("waited %v for %s in vain (last: %v)", patience, args[0], err)
		}
	}
}
