//go:build unix

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/governor"
)

// authority is a CA that lives as long as its test, with what it signed in files.
type authority struct {
	s    *site
	name string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string // its certificate
}

func (s *site) authority(name string) *authority {
	s.t.Helper()
	a := &authority{s: s, name: name}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &a.key.PublicKey, a.key)
	if err != nil {
		s.t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		s.t.Fatal(err)
	}
	a.file = a.pem(name+".crt", "CERTIFICATE", der)
	return a
}

// signs makes a certificate for the loopback, for servers and clients alike.
func (a *authority) signs(name string) (cert, key string) {
	a.s.t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.s.t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}}, a.cert, &k.PublicKey, a.key)
	if err != nil {
		a.s.t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		a.s.t.Fatal(err)
	}
	return a.pem(name+".crt", "CERTIFICATE", der), a.pem(name+".key", "EC PRIVATE KEY", raw)
}

func (a *authority) pem(name, kind string, der []byte) string {
	return a.s.write(a.name+"-"+name, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

// sealed is a site whose workers and commands reach both services by TLS alone.
type sealed struct {
	*site
	ca, other  *authority
	cert, key  string // of a client
	amqps      string
	rediss     string // of a store that asks nobody for a certificate
	redissBoth string // of one that does
}

// seal starts a broker that wants a client's certificate, and two stores of which one
// does.
func seal(t *testing.T) *sealed {
	t.Helper()
	testsvc.Need(t)
	// The folder and the files come before the services that read them.
	s := newSite(t, "amqp://not-yet", "redis://not-yet")
	f := &sealed{site: s, ca: s.authority("the-ca"), other: s.authority("another-ca")}
	cert, key := f.ca.signs("server")
	f.cert, f.key = f.ca.signs("client")
	at := freePort(t)
	broker := testsvc.RabbitMQ(t, fmt.Sprintf("listeners.ssl.local = 127.0.0.1:%d", at), "ssl_options.cacertfile = "+f.ca.file,
		"ssl_options.certfile = "+cert, "ssl_options.keyfile = "+key,
		"ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = true")
	q := url.Values{"certfile": {f.cert}, "keyfile": {f.key}}
	f.amqps = fmt.Sprintf("amqps://guest:guest@127.0.0.1:%d/?%s", at, q.Encode())
	store := func(ask string) (plain, tls string) {
		at := freePort(t)
		p := testsvc.Redis(t, "--tls-port", fmt.Sprint(at), "--tls-cert-file", cert, "--tls-key-file", key,
			"--tls-ca-cert-file", f.ca.file, "--tls-auth-clients", ask)
		return p.URL(), fmt.Sprintf("rediss://127.0.0.1:%d/0", at)
	}
	_, f.redissBoth = store("yes")
	s.redis, f.rediss = store("no")
	s.amqp = broker.URL() // to look with
	f.trusts(f.ca)
	return f
}

// freePort is one that outgoing connections are not handed.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		var b [2]byte
		_, _ = rand.Read(b[:])
		p := 20000 + (int(b[0])<<8|int(b[1]))%12000
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p)); err == nil {
			l.Close()
			return p
		}
	}
	t.Fatal("100 tries found no free port")
	return 0
}

// trusts has workers and commands know one authority and reach both services by TLS.
func (f *sealed) trusts(a *authority) {
	f.env = []string{"SSL_CERT_FILE=" + a.file, "SSL_CERT_DIR=" + filepath.Join(f.dir, "none"),
		"TRACTION_AMQP_URL=" + f.amqps, "TRACTION_REDIS_URL=" + f.rediss}
}

// file writes a worker's configuration with the URLs of the environment.
func (f *sealed) file(name string) string {
	amqpURL, redisURL := f.amqp, f.redis
	defer func() { f.amqp, f.redis = amqpURL, redisURL }()
	f.amqp, f.redis = `"${TRACTION_AMQP_URL}"`, `"${TRACTION_REDIS_URL}"`
	return f.config(name, oneGate)
}

func TestTLSToBothServices(t *testing.T) {
	t.Parallel()
	f := seal(t)
	file := f.file("traction.yaml")
	f.start(2, file)
	f.dispatch(contacts, "c", 0, 100)
	f.vendor.lands(t, 100)
	if out := f.do("airport", "list"); !strings.Contains(out, airport) {
		t.Errorf("airport list:\n%s", out)
	}
	f.do("airport", "pause", airport, "--reason", "by TLS")
	f.becomes(governor.Paused)
	f.reopen()

	// An authority that signed neither.
	right := f.env
	f.trusts(f.other)
	refused := func(what string) {
		t.Helper()
		// On a busy machine the time may end before the service has said its reason.
		var errOut string
		var code int
		if !eventually(func() bool {
			_, errOut, code = f.ctl("", "status", "--timeout", "20s")
			if code != 5 {
				t.Errorf("%s: exit %d, want 5\n%s", what, code, errOut)
			}
			return strings.Contains(errOut, "certificate")
		}) {
			t.Errorf("%s: no word about the certificate\n%s", what, errOut)
		}
	}
	refused("a broker with a certificate of somebody else's")
	f.env = append(f.env, "TRACTION_AMQP_URL="+f.amqp)
	refused("a store with a certificate of somebody else's")
	// A broker that wants to know its clients, and one that shows nothing.
	f.env = append(right, "TRACTION_AMQP_URL="+f.amqps[:strings.Index(f.amqps, "?")])
	refused("no certificate for the broker")
	f.env = append(right, "TRACTION_REDIS_URL="+f.redissBoth)
	refused("no certificate for the store")

	// A worker waits for services it cannot trust, and says why.
	f.trusts(f.other)
	w := start(t, file, f.env...)
	f.until("the worker to say why", func() bool { return strings.Contains(w.log.String(), "certificate") })
	if w.gone() {
		t.Errorf("it has ended: %v", w.stat)
	}
	if code, text := w.get("/readyz"); code != 503 {
		t.Errorf("it says that it is ready: %d %s", code, text)
	}
	w.kill()
	f.env = right
	f.dispatch(contacts, "d", 0, 20)
	f.vendor.lands(t, 120)
	f.close(true)
}

// A program that embeds the worker gives certificates for both in Config.TLS.
func TestTLSWithAClientsCertificate(t *testing.T) {
	t.Parallel()
	f := seal(t)
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(f.ca.cert)
	for _, tt := range []struct {
		name string
		conf *tls.Config
		fine bool
	}{
		{"both", &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, true},
		{"none of its own", &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, false},
		{"no authority", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, false},
	} {
		services := map[string]governor.Finding{}
		if !eventually(func() bool {
			found, err := governor.Examine(t.Context(), governor.Config{AMQP: f.amqps[:strings.Index(f.amqps, "?")], Redis: f.redissBoth, TLS: tt.conf,
				Namespace: f.ns, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			said := 0
			for _, x := range found {
				if x.Check != "broker" && x.Check != "store" {
					continue
				}
				services[x.Check] = x
				fine := x.Level == governor.LevelOK
				if fine && !tt.fine {
					t.Fatalf("%s: the %s is found %s: %s", tt.name, x.Check, x.Level, x.Found)
				}
				if fine || !tt.fine && strings.Contains(x.Found, "certificate") {
					said++
				}
			}
			return said == 2
		}) {
			t.Errorf("%s: found %+v", tt.name, services)
		}
	}
}
