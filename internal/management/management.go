// Package management reads what RabbitMQ's management API tells of queues and AMQP
// does not: the arguments they were declared with, and the policies that act on
// them. It only reads, and whoever asks does without where it does not answer.
package management

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/traction-go/traction/internal/wire"
)

// ErrNoAnswer: the API is not there, or does not let us look.
var ErrNoAnswer = errors.New("the management API does not answer")

const (
	timeout  = 5 * time.Second
	maxReply = 32 << 20
	pageSize = 500
	maxPages = 200
)

// Client asks one broker.
type Client struct {
	base, vhost    string
	user, password string
	http           *http.Client
}

// Queue is a queue as the broker sees it.
type Queue struct {
	Name      string
	Type      string         // quorum, classic or stream
	Arguments map[string]any // it was declared with
	Policy    string         // the policies that act on it, for people
	Effective map[string]any // what they set
	Ready     int
	Unacked   int
}

// New makes a client for the broker behind an AMQP URL: its host at the usual port,
// 15672, or 15671 with TLS, and its user. base, when not empty, replaces scheme,
// host and port.
func New(amqpURL, base string, conf *tls.Config) (*Client, error) {
	u, err := amqp.ParseURI(amqpURL)
	if err != nil {
		// The library's own error repeats the URL, password and all.
		return nil, fmt.Errorf("%q is no AMQP URL", wire.MaskURL(amqpURL))
	}
	if base == "" {
		base = "http://" + net.JoinHostPort(u.Host, "15672")
		if u.Scheme == "amqps" {
			base = "https://" + net.JoinHostPort(u.Host, "15671")
		}
	}
	if b, err := url.Parse(base); err != nil || b.Host == "" || b.Scheme != "http" && b.Scheme != "https" {
		return nil, fmt.Errorf("%q is no URL of a management API: want http://host:port", wire.MaskURL(base))
	}
	return &Client{base: strings.TrimSuffix(base, "/"), vhost: u.Vhost, user: u.Username, password: u.Password,
		http: &http.Client{Timeout: timeout, Transport: &http.Transport{TLSClientConfig: conf, Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
			// The password goes to the host that was named and to no other.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// Base is where the client asks, without a password.
func (c *Client) Base() string { return wire.MaskURL(c.base) }

type page struct {
	Pages int     `json:"page_count"`
	Items []entry `json:"items"`
}

type entry struct {
	Name      string          `json:"name"`
	Type      string          `json:"type"`
	Arguments json.RawMessage `json:"arguments"`
	Policy    *string         `json:"policy"`
	Operator  *string         `json:"operator_policy"`
	Effective json.RawMessage `json:"effective_policy_definition"`
	Ready     int             `json:"messages_ready"`
	Unacked   int             `json:"messages_unacknowledged"`
}

// Queues lists the queues whose names start with prefix. It wraps ErrNoAnswer where
// the API does not answer with a list.
func (c *Client) Queues(ctx context.Context, prefix string) ([]Queue, error) {
	var out []Queue
	for n := 1; n <= maxPages; n++ {
		var p page
		q := url.Values{"page": {strconv.Itoa(n)}, "page_size": {strconv.Itoa(pageSize)}, "name": {prefix}, "use_regex": {"false"}}
		if err := c.get(ctx, "/api/queues/"+url.PathEscape(c.vhost)+"?"+q.Encode(), &p); err != nil {
			return nil, err
		}
		for _, e := range p.Items {
			if !strings.HasPrefix(e.Name, prefix) {
				continue // the name is searched for anywhere
			}
			out = append(out, e.queue())
		}
		if n >= p.Pages {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%w: more than %d queues", ErrNoAnswer, maxPages*pageSize)
}

func (e entry) queue() Queue {
	q := Queue{Name: e.Name, Type: e.Type, Arguments: object(e.Arguments), Effective: object(e.Effective), Ready: e.Ready, Unacked: e.Unacked}
	for _, p := range []*string{e.Policy, e.Operator} {
		if p != nil && *p != "" {
			q.Policy = strings.TrimPrefix(q.Policy+", "+*p, ", ")
		}
	}
	return q
}

// object reads a JSON object; where there is none, the API writes an empty list.
func object(raw json.RawMessage) map[string]any {
	var v map[string]any
	_ = json.Unmarshal(raw, &v) // anything else has nothing in it
	return v
}

// Number reads a whole number out of arguments or a policy.
func Number(from map[string]any, key string) (int64, bool) {
	f, ok := from[key].(float64)
	return int64(f), ok
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	req.SetBasicAuth(c.user, c.password)
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrNoAnswer, wire.Visible(wire.Mask(err.Error())))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s says %s", ErrNoAnswer, c.Base(), res.Status)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return fmt.Errorf("%w: %s answers with no list of queues", ErrNoAnswer, c.Base())
	}
	return nil
}
