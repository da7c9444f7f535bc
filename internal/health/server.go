package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/traction-go/traction/internal/wire"
)

// Server answers /healthz, /readyz and /metrics. Its methods may be called from
// any goroutine.
type Server struct {
	addr    string
	version string
	log     *slog.Logger

	mu       sync.Mutex
	source   Source // nil until the process takes part
	draining bool
	listener net.Listener
	http     *http.Server
	metrics  http.Handler
	served   chan struct{}
}

// New makes a server for addr, such as 127.0.0.1:8077.
func New(addr, version string, log *slog.Logger) *Server {
	return &Server{addr: addr, version: version, log: log, metrics: newMetrics(&nobody{}, version, log)}
}

// Start listens; it returns when connections are accepted, or with why they can't
// be. The process is alive and not ready.
func (s *Server) Start() error {
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listening for health and metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		h := s.metrics
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = l
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.served = make(chan struct{})
	go func(h *http.Server, done chan struct{}) {
		defer close(done)
		if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("health and metrics are not served any more", "error", err)
		}
	}(s.http, s.served)
	return nil
}

// Addr is where the server listens, with the port the system chose for :0.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return s.addr
	}
	return s.listener.Addr().String()
}

// Follow tells of a source from now on: the process takes part.
func (s *Server) Follow(source Source) {
	m := newMetrics(source, s.version, s.log)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.source, s.metrics = source, m
}

// Drain makes the process unready, for good.
func (s *Server) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// Stop ends the server; requests in hand are answered until ctx ends. Stopping
// twice, or what never started, is fine.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	h, done := s.http, s.served
	s.mu.Unlock()
	if h == nil {
		return nil
	}
	err := h.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, h.Close())
	}
	<-done
	return err
}

func (s *Server) phase() (source Source, draining bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source, s.draining
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if source, _ := s.phase(); source != nil {
		for _, a := range source.Local().Airports {
			for _, g := range a.Gates {
				if g.Workers > 0 && g.Leaked >= g.Workers {
					answer(w, http.StatusServiceUnavailable, fmt.Sprintf(
						"gate %s/%s clears nothing: %d pilots ignored the end of their call; restart the process", a.ID, g.ID, g.Leaked))
					return
				}
			}
		}
	}
	answer(w, http.StatusOK, "ok")
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	source, draining := s.phase()
	why := ""
	switch {
	case draining:
		why = "draining"
	case source == nil:
		why = "starting: the broker or the store has not answered yet"
	default:
		if l := source.Local(); !l.Broker {
			why = "the broker is unreachable"
		} else if !l.Store {
			why = "the store is unreachable"
		} else if scope := unborn(l); scope != "" {
			why = "starting: " + scope + " is not declared yet"
		}
	}
	if why != "" {
		answer(w, http.StatusServiceUnavailable, why)
		return
	}
	answer(w, http.StatusOK, "ok")
}

// unborn gives a scope that flies nothing because the store has no status of it
// yet; "" where there is none. A stopped one is known and stays ready.
func unborn(l Local) string {
	for _, a := range l.Airports {
		if early(a.State) {
			return a.ID
		}
		for _, g := range a.Gates {
			if early(g.State) {
				return a.ID + "/" + g.ID
			}
		}
	}
	return ""
}

func early(state string) bool {
	return state == "" || state == string(wire.Unknown) || state == string(wire.Birth)
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // the asker may have gone
}

func newMetrics(source Source, version string, log *slog.Logger) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(
		&collector{source: source, version: version, log: log, now: time.Now},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
	})
}

// nobody is the source before the process takes part.
type nobody struct{}

func (*nobody) Local() Local                           { return Local{} }
func (*nobody) Fleet(context.Context) ([]Fleet, error) { return nil, nil }
