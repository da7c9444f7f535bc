//go:build unix

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// call is one that reached the vendor.
type call struct {
	at       time.Time
	path     string
	business string
	key      string // Idempotency-Key
	auth     string
	body     []byte
	nth      int   // of this business id, from 1
	status   int   // as answered; 0 while it is in the air
	items    []int // of a batch: as answered for each record; nil: for all of them
}

// answer is what the vendor says to a call.
type answer struct {
	status int
	header map[string]string
	body   string
	items  []int           // statuses, record by record: the body of an answer to a batch
	wait   <-chan struct{} // where set, it is said only then
}

var ok = answer{status: 200}

// vendor is what the flights call. It lives in the test and remembers everything.
type vendor struct {
	mu    sync.Mutex
	say   func(call) answer
	calls []*call
	nth   map[string]int
	inAir int
	most  int // calls in the air at once, at the most
}

func newVendor() *vendor {
	return &vendor{nth: map[string]int{}, say: func(call) answer { return ok }}
}

// saying changes what the vendor answers, for calls that arrive from now on.
func (v *vendor) saying(say func(call) answer) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.say = say
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	body, _ := io.ReadAll(r.Body)
	c := &call{at: at, path: r.URL.Path, business: r.Header.Get("Traction-Business-Id"),
		key: r.Header.Get("Idempotency-Key"), auth: r.Header.Get("Authorization"), body: body}
	v.mu.Lock()
	v.nth[c.business]++
	c.nth = v.nth[c.business]
	v.calls = append(v.calls, c)
	v.inAir++
	v.most = max(v.most, v.inAir)
	say := v.say
	v.mu.Unlock()
	a := say(*c)
	if a.wait != nil {
		<-a.wait
	}
	v.mu.Lock()
	c.status, c.items = a.status, a.items
	v.inAir--
	v.mu.Unlock()
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	if a.items != nil {
		_ = json.NewEncoder(w).Encode(a.items)
		return
	}
	_, _ = io.WriteString(w, a.body)
}

// all gives the calls so far, in the order in which they arrived.
func (v *vendor) all() []call {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([]call, len(v.calls))
	for i, c := range v.calls {
		list[i] = *c
	}
	return list
}

func (v *vendor) count() int { v.mu.Lock(); defer v.mu.Unlock(); return len(v.calls) }
func (v *vendor) air() int   { v.mu.Lock(); defer v.mu.Unlock(); return v.inAir }

// landed counts the accepted calls by business id.
func (v *vendor) landed() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := map[string]int{}
	for _, c := range v.calls {
		if c.status/100 != 2 {
			continue
		}
		if c.path != "/batch" {
			m[c.business]++
			continue
		}
		for i, id := range c.ids() {
			if c.items == nil || c.items[i] == 200 {
				m[id]++
			}
		}
	}
	return m
}

// ids gives the records of a call to /batch.
func (c call) ids() (ids []string) {
	var records []struct{ ID string }
	if json.Unmarshal(c.body, &records) != nil {
		return nil
	}
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

// lands waits until n business ids have landed.
func (v *vendor) lands(t *testing.T, n int) {
	t.Helper()
	if !eventually(func() bool { return len(v.landed()) >= n }) {
		t.Fatalf("waited %v for %d landings and saw %d, in %d calls", long, n, len(v.landed()), v.count())
	}
}

// dead answers 401 to all but the right credential.
func dead(c call) answer {
	if c.auth == "Bearer "+goodToken {
		return ok
	}
	return answer{status: 401, body: `{"error":"token expired"}`}
}

// hook takes webhooks.
type hook struct {
	mu    sync.Mutex
	told  []note
	tries map[string]int // by key, taken or not
	block chan struct{}  // where set, calls wait for it and are not taken
}

// note is one notification as a receiver reads it.
type note struct {
	Key      string `json:"-"` // of the header
	ID       string `json:"id"`
	Type     string `json:"type"`
	Scope    string `json:"scope"`
	Reason   string `json:"reason"`
	Evidence string `json:"evidence"`
	Text     string `json:"text"`
	raw      []byte
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var n note
	n.raw, _ = io.ReadAll(r.Body)
	_ = json.Unmarshal(n.raw, &n)
	n.Key = r.Header.Get("Idempotency-Key")
	h.mu.Lock()
	if h.tries == nil {
		h.tries = map[string]int{}
	}
	h.tries[n.Key]++
	block := h.block
	h.mu.Unlock()
	if block != nil {
		<-block
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, n)
}

// of gives the notifications of a type; "" for all.
func (h *hook) of(kind string) (list []note) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.told {
		if kind == "" || n.Type == kind {
			list = append(list, n)
		}
	}
	return list
}

func (h *hook) tried() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.tries {
		n += k
	}
	return n
}

// tells waits for the n-th notification of a type.
func (h *hook) tells(t *testing.T, n int, kind string) {
	t.Helper()
	if !eventually(func() bool { return len(h.of(kind)) >= n }) {
		t.Fatalf("waited %v for %d %s and was told %+v", long, n, kind, h.of(""))
	}
}

// once fails where a key was taken twice, or a type was told more often than n.
func (h *hook) once(t *testing.T, kind string, n int) {
	t.Helper()
	keys := map[string]int{}
	for _, m := range h.of("") {
		if keys[m.Key]++; keys[m.Key] > 1 || m.Key == "" || m.Key != m.ID {
			t.Errorf("%s of %s was told %d times under the key %q", m.Type, m.Scope, keys[m.Key], m.Key)
		}
	}
	if list := h.of(kind); len(list) != n {
		t.Errorf("told of %d %s, want %d: %+v", len(list), kind, n, list)
	}
}
