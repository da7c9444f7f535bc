package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// latency is how long the vendor takes for an answer.
const latency = 5 * time.Millisecond

// freshToken is the only one the vendor takes. The clients begin with another.
const freshToken = "token-of-today"

// vendor is the third party: a CRM on the loopback that takes contacts from
// whoever shows a token that has not expired. It keeps books of its own.
type vendor struct {
	URL      string
	server   *http.Server
	served   chan error
	sabotage func(contact string) (status int) // a test's; 0: answer honestly

	mu      sync.Mutex
	refused int // calls it answered 401
	books   map[string]int
}

func startVendor(s sabotage) (*vendor, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the simulated vendor: %w", err)
	}
	v := &vendor{URL: "http://" + ln.Addr().String(), books: map[string]int{}, served: make(chan error, 1), sabotage: s.vendor}
	v.server = &http.Server{Handler: http.HandlerFunc(v.contacts), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0)}
	go func() { v.served <- v.server.Serve(ln) }()
	return v, nil
}

// close ends the server and returns when it has ended.
func (v *vendor) close() error {
	err := v.server.Close()
	if served := <-v.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (v *vendor) contacts(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(latency):
	case <-r.Context().Done():
		return // the caller hung up
	}
	if r.Header.Get("Authorization") != "Bearer "+freshToken {
		v.mu.Lock()
		v.refused++
		v.mu.Unlock()
		answer(w, http.StatusUnauthorized, `{"error":"token expired"}`)
		return
	}
	var c contact
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil || json.Unmarshal(body, &c) != nil || c.ID == "" {
		answer(w, http.StatusUnprocessableEntity, `{"error":"not a contact"}`)
		return
	}
	if v.sabotage != nil {
		if status := v.sabotage(c.ID); status != 0 {
			answer(w, status, `{"error":"sabotage"}`)
			return
		}
	}
	v.mu.Lock()
	v.books[c.ID]++
	v.mu.Unlock()
	answer(w, http.StatusOK, `{"ok":true}`)
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A caller that hung up does not hear the answer; the books are written.
	_, _ = io.WriteString(w, body)
}

// dead is how many calls it refused since the token expired.
func (v *vendor) dead() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.refused
}

// landed reads the books: how many contacts were written, and how often in all.
func (v *vendor) landed() (contacts, writes int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range v.books {
		writes += n
	}
	return len(v.books), writes
}
