//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// wires are the network between the workers and one service, which a test can cut.
// The test itself and tractionctl go past it.
type wires struct {
	t        *testing.T
	p        *toxiproxy.Proxy
	upstream string
	url      string // the service, through here
}

// between puts wires in front of the service at a URL.
func between(t *testing.T, service string) *wires {
	t.Helper()
	u, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	w := &wires{t: t, upstream: u.Host}
	// Below the ports that systems hand out to outgoing connections: none of those
	// takes it while the wires are cut.
	for range 100 {
		if err = w.start(fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000))); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.p.Stop() })
	u.Host = w.p.Listen
	w.url = u.String()
	return w
}

func (w *wires) start(listen string) error {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	w.p = toxiproxy.NewProxy(server, "wires", listen, w.upstream)
	return w.p.Start()
}

// cut ends every connection and refuses new ones.
func (w *wires) cut() { w.p.Stop() }

// heal ends what was wrong. Connections from before are gone, and so is the proxy:
// taking a fault off a connection that ends meanwhile can block it for good.
func (w *wires) heal() {
	w.t.Helper()
	w.p.Stop()
	if err := w.start(w.p.Listen); err != nil {
		w.t.Fatal(err)
	}
}

// freeze makes all connections half-open: they stand, and new ones are taken, but
// nothing that is sent arrives.
func (w *wires) freeze() { w.toxic("timeout", `{"timeout": 0}`) }

// slow delays everything that is sent, in both directions.
func (w *wires) slow(late, jitter time.Duration) {
	w.toxic("latency", fmt.Sprintf(`{"latency": %d, "jitter": %d}`, late.Milliseconds(), jitter.Milliseconds()))
}

// snap ends each connection after so many bytes of one direction, wherever in a
// message that is.
func (w *wires) snap(bytes int) { w.toxic("limit_data", fmt.Sprintf(`{"bytes": %d}`, bytes)) }

func (w *wires) toxic(kind, attributes string) {
	w.t.Helper()
	for _, way := range []string{"upstream", "downstream"} {
		text := fmt.Sprintf(`{"name": "%s %s", "type": %q, "stream": %q, "attributes": %s}`, kind, way, kind, way, attributes)
		if _, err := w.p.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
			w.t.Fatalf("%s: %v", text, err)
		}
	}
}
