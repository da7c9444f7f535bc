package httppilot

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

const (
	maxAnswer   = 64 << 10 // the most of an answer that is read
	drainFor    = 2 * time.Second
	dialTimeout = 10 * time.Second
)

// Spec is what a pilot calls. The zero fields take the defaults.
type Spec struct {
	// Method defaults to POST.
	Method string
	// URL is where the flights go. Required; http or https.
	URL string
	// Headers are added to every call.
	Headers []Header
	// Workers is how many calls are in the air at once: so many connections are
	// kept open. Default 4.
	Workers int
	// Secrets are masked wherever they appear in an error, beside those of Headers.
	Secrets []string
	// KeepBody keeps successful answers for the reporter too, because a rule
	// reads their bodies.
	KeepBody bool
	// KeepStatus names successful statuses that a rule gives another meaning.
	KeepStatus func(code int) bool
}

// Pilot makes one HTTP call per flight. It may be used from any goroutine.
type Pilot struct {
	spec   Spec
	host   string
	client *http.Client
}

var _ governor.Pilot = (*Pilot)(nil)

// New makes a pilot, or says which field of the spec is wrong.
func New(spec Spec) (*Pilot, error) {
	if spec.Method == "" {
		spec.Method = http.MethodPost
	}
	if err := CheckMethod(spec.Method); err != nil {
		return nil, err
	}
	u, err := ParseURL(spec.URL)
	if err != nil {
		return nil, err
	}
	if u.User != nil {
		if pw, ok := u.User.Password(); ok {
			spec.Secrets = append(spec.Secrets, pw)
		}
	}
	for _, h := range spec.Headers {
		if err := CheckHeader(h.Name); err != nil {
			return nil, err
		}
	}
	if spec.Workers <= 0 {
		spec.Workers = governor.DefaultWorkers
	}
	return &Pilot{spec: spec, host: u.Host, client: &http.Client{
		Transport: transport(spec.Workers),
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}}, nil
}

// keepLeast is how many idle connections are kept at least: an operator may scale a
// gate beyond the workers it declares.
const keepLeast = 64

// transport keeps a connection for every worker, so that a busy gate never pays
// for a handshake.
func transport(workers int) *http.Transport {
	workers = max(workers, keepLeast)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           workers,
		MaxIdleConnsPerHost:    workers,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: maxAnswer,
	}
}

// Close gives up the connections that nothing uses.
func (p *Pilot) Close() { p.client.CloseIdleConnections() }

// ParseURL reads an http or https URL. Its errors never repeat the URL, which may
// hold a credential.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("is no URL that can be called: want http://host/path or https://host/path")
	}
	return u, nil
}

// Fly makes the call. See the package comment for its errors.
func (p *Pilot) Fly(ctx context.Context, f governor.Flight[[]byte]) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, p.spec.Method, p.spec.URL, bytes.NewReader(f.Payload))
	if err != nil {
		return fmt.Errorf("cannot make a request for %s: check the gate's method and url", p.host)
	}
	secrets := p.setHeaders(req, f.Meta)
	res, err := p.client.Do(req)
	if err != nil {
		return p.callError(ctx, err, secrets)
	}
	defer res.Body.Close()
	return p.read(res, cancel, secrets)
}

// read turns what came back into the pilot's error, and leaves the connection fit
// for another call where that takes no more than 64 KiB and two seconds.
func (p *Pilot) read(res *http.Response, cancel func(), secrets []string) error {
	success := res.StatusCode >= 200 && res.StatusCode < 300
	if !p.spec.KeepBody {
		// The status has said what happened; a body that trickles in must not
		// hold the worker until the timeout.
		defer time.AfterFunc(drainFor, cancel).Stop()
	}
	if success && !p.spec.KeepBody && (p.spec.KeepStatus == nil || !p.spec.KeepStatus(res.StatusCode)) {
		_, _ = io.CopyN(io.Discard, res.Body, maxAnswer)
		return nil
	}
	body, err := readAll(res.Body, maxAnswer)
	if err != nil && success && p.spec.KeepBody {
		return p.callError(res.Request.Context(), fmt.Errorf("reading the answer %d: %w", res.StatusCode, err), secrets)
	}
	return newAnswer(res, body, secrets)
}

func readAll(r io.Reader, most int64) ([]byte, error) { return io.ReadAll(io.LimitReader(r, most)) }

// setHeaders writes the configured headers, then Traction's own, and gives the
// secrets that were sent.
func (p *Pilot) setHeaders(req *http.Request, m governor.Meta) []string {
	secrets := p.spec.Secrets
	if ct := m.ContentType; ct != "" && fits(ct) {
		req.Header.Set("Content-Type", ct)
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "traction-worker")
	for _, h := range p.spec.Headers {
		value := h.Value.Get()
		secrets = append(secrets[:len(secrets):len(secrets)], h.secrets(value)...)
		if http.CanonicalHeaderKey(h.Name) == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(h.Name, value)
	}
	req.Header.Set("Idempotency-Key", encode(m.Key))
	req.Header.Set("Traction-Flight", encode(m.ID))
	req.Header.Set("Traction-Attempt", strconv.Itoa(m.Attempt))
	if m.BusinessID != "" {
		req.Header.Set("Traction-Business-Id", encode(m.BusinessID))
	}
	if !m.Deadline.IsZero() {
		req.Header.Set("Traction-Deadline", m.Deadline.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	}
	return secrets
}

// Secrets lists the credentials of the URL and the headers as they are now.
func (p *Pilot) Secrets() []string {
	all := append([]string{}, p.spec.Secrets...)
	for _, h := range p.spec.Headers {
		all = append(all, h.Secrets()...)
	}
	return all
}
