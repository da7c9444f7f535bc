package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// contact is what is to be synced.
type contact struct {
	ID    string `json:"id"`
	Email string `json:"email"`
}

func contactNumber(i int) contact {
	return contact{fmt.Sprintf("contact-%05d", i+1), fmt.Sprintf("user%05d@example.com", i+1)}
}

// payload is the contact as it travels. Two strings always encode.
func (c contact) payload() []byte {
	b, _ := json.Marshal(c)
	return b
}

// crm is the client that both consumers call the vendor with. It holds a token,
// which has just expired.
type crm struct {
	url   string
	http  *http.Client
	token atomic.Pointer[string]

	mu   sync.Mutex
	left []time.Time // when each call left that had the fresh token
}

func newCRM(v *vendor) *crm {
	expired := "token-of-yesterday"
	c := &crm{url: v.URL + "/contacts", http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	c.token.Store(&expired)
	return c
}

// fix puts the vendor's new token in place: what a human does at 2 a.m.
func (c *crm) fix() {
	fresh := freshToken
	c.token.Store(&fresh)
}

func (c *crm) close() { c.http.CloseIdleConnections() }

// Upsert writes one contact. A refusal is a *governor.StatusError.
func (c *crm) Upsert(ctx context.Context, who contact) error {
	token := *c.token.Load()
	if token == freshToken {
		c.mu.Lock()
		c.left = append(c.left, time.Now())
		c.mu.Unlock()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(who.payload()))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
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

// peak is the largest number of calls that left within any window so long.
func (c *crm) peak(window time.Duration) int {
	c.mu.Lock()
	left := slices.Clone(c.left)
	c.mu.Unlock()
	slices.SortFunc(left, time.Time.Compare)
	most, from := 0, 0
	for i, t := range left {
		for t.Sub(left[from]) > window {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}
