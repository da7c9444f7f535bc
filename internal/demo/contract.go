package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// The endpoints of the vendor with a contract.
const (
	oldContacts = "/v1/contacts"
	newContacts = "/v2/contacts"
	companies   = "/v1/companies"
)

// contractor is a third party that has just moved one of its endpoints: the old one
// answers 404, the others work. It keeps books of each endpoint.
type contractor struct {
	URL      string
	server   *http.Server
	served   chan error
	sabotage func(contact string) (status int) // a test's; 0: answer honestly

	mu      sync.Mutex
	refused int                       // calls to the endpoint that is gone
	books   map[string]map[string]int // writes, by endpoint and record
}

func startContractor(s sabotage) (*contractor, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the simulated vendor: %w", err)
	}
	v := &contractor{URL: "http://" + ln.Addr().String(), served: make(chan error, 1), sabotage: s.vendor,
		books: map[string]map[string]int{newContacts: {}, companies: {}}}
	v.server = &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { v.served <- v.server.Serve(ln) }()
	return v, nil
}

// close ends the server and returns when it has ended.
func (v *contractor) close() error {
	err := v.server.Close()
	if served := <-v.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (v *contractor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(latency):
	case <-r.Context().Done():
		return // the caller hung up
	}
	var c contact
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil || json.Unmarshal(body, &c) != nil || c.ID == "" {
		answer(w, http.StatusUnprocessableEntity, `{"error":"not a record"}`)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	book := v.books[r.URL.Path]
	if book == nil {
		v.refused++
		answer(w, http.StatusNotFound, `{"error":"gone, see the changelog of API v2"}`)
		return
	}
	if v.sabotage != nil {
		if status := v.sabotage(c.ID); status != 0 {
			answer(w, status, `{"error":"sabotage"}`)
			return
		}
	}
	book[c.ID]++
	answer(w, http.StatusOK, `{"ok":true}`)
}

// gone is how many calls the moved endpoint refused.
func (v *contractor) gone() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.refused
}

// landed reads the books of an endpoint: how many records, and how often in all.
func (v *contractor) landed(endpoint string) (records, writes int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range v.books[endpoint] {
		writes += n
	}
	return len(v.books[endpoint]), writes
}

// post writes one record. A refusal is a *governor.StatusError.
func post(ctx context.Context, client *http.Client, url string, c contact) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(c.payload()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return &governor.StatusError{Code: resp.StatusCode, Body: string(body)}
	}
	return nil
}
