package governor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// webhookTimeout bounds one try; the tower tries again.
const webhookTimeout = 10 * time.Second

// WebhookOption is a choice of Webhook.
type WebhookOption func(*webhook)

// WebhookClient makes the calls with this client, such as one with a client
// certificate. Its redirects policy is kept.
func WebhookClient(c *http.Client) WebhookOption {
	return func(h *webhook) { h.client = c }
}

// WebhookHeader adds a header to every call, such as a credential.
func WebhookHeader(name, value string) WebhookOption {
	return func(h *webhook) { h.header.Set(name, value) }
}

// Webhook posts each notification as JSON to url, with the notification's key as
// Idempotency-Key. A 2xx within 10 seconds takes it; anything else is an error,
// and the notification is sent again. Redirects are not followed. The URL may be
// a secret: errors show its host alone.
//
// The body has id, type, scope, reason, evidence, records, workers, waiting
// (flights; null where it could not be read), since, actor, next (commands),
// runbook, incident, observed and text, which a chat can show as it is.
func Webhook(url string, opts ...WebhookOption) Hook {
	h := &webhook{url: url, header: http.Header{}}
	for _, o := range opts {
		o(h)
	}
	if h.client == nil {
		// Notifications are rare: a connection kept for the next is only a leak.
		h.client = &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
				TLSHandshakeTimeout: webhookTimeout,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return h
}

type webhook struct {
	url    string
	header http.Header
	client *http.Client
}

// webhookBody is the form of a notification on the wire. It only gains fields.
type webhookBody struct {
	ID       string      `json:"id"`
	Type     string      `json:"type"`
	Scope    string      `json:"scope"`
	Reason   string      `json:"reason"`
	Evidence wire.Text   `json:"evidence"`
	Records  []wire.Text `json:"records"`
	Workers  []wire.Text `json:"workers"`
	Waiting  *int        `json:"waiting"`
	Parked   *int        `json:"parked"`
	Since    *time.Time  `json:"since"`
	Actor    wire.Text   `json:"actor"`
	Next     []string    `json:"next"`
	Runbook  string      `json:"runbook"`
	Incident string      `json:"incident"`
	Observed bool        `json:"observed"`
	Text     wire.Text   `json:"text"`
}

func newWebhookBody(n Notification) webhookBody {
	b := webhookBody{
		ID: n.Key, Type: n.Type, Scope: n.Scope, Reason: n.Reason,
		Evidence: wire.Text(n.Evidence), Records: texts(n.Records), Workers: texts(n.Workers),
		Actor: wire.Text(n.Actor), Next: n.Next, Runbook: n.Runbook,
		Incident: n.Incident, Observed: n.Observed, Text: wire.Text(n.Text),
	}
	if n.Waiting != Unread {
		b.Waiting = &n.Waiting
	}
	if n.Parked != Unread {
		b.Parked = &n.Parked
	}
	if !n.Since.IsZero() {
		utc := n.Since.UTC()
		b.Since = &utc
	}
	if b.Next == nil {
		b.Next = []string{}
	}
	return b
}

func texts(in []string) []wire.Text {
	out := make([]wire.Text, len(in))
	for i, s := range in {
		out[i] = wire.Text(s)
	}
	return out
}

func (h *webhook) Notify(ctx context.Context, n Notification) error {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	body, err := json.Marshal(newWebhookBody(n))
	if err != nil {
		return fmt.Errorf("webhook %s: writing the body: %w", h.shown(), err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("webhook %s: is no URL that can be called", h.shown())
	}
	for name, values := range h.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", n.Key)
	res, err := h.client.Do(req)
	if err != nil {
		var ue *url.Error // it repeats the URL
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return fmt.Errorf("webhook %s: %w", h.shown(), err)
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("webhook %s: answered %d %s; it is sent again until it answers 2xx",
			h.shown(), res.StatusCode, bound(wire.CleanEvidence(string(answer)), 200))
	}
	return nil
}

// shown is what of the URL may be told: chat services put the credential in the
// path.
func (h *webhook) shown() string {
	u, err := url.Parse(h.url)
	if err != nil || u.Host == "" {
		return "[masked]"
	}
	return u.Scheme + "://" + u.Host + "/..."
}
