package store

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
)

// The classes of errors.
var (
	// ErrUnreachable: the store did not answer, or its answer was lost.
	ErrUnreachable = errors.New("store unreachable")
	// ErrScript: a script refused its arguments, or the store refused the script.
	ErrScript = errors.New("script failed")
)

// Config is how the store is reached.
type Config struct {
	// URLs is one URL, the nodes of a cluster, or sentinels with ?master_name=.
	URLs []string
	// TLS is used for rediss. nil: the system's roots.
	TLS *tls.Config
	// Namespace starts every key.
	Namespace wire.Namespace
	// Timeout bounds one call. Default 3 s.
	Timeout time.Duration
	// Dialer replaces the network, for the embedded store.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
	// PoolSize bounds the connections. Default 16.
	PoolSize int
}

// Store is a connection to the store. It is safe for use from any goroutine.
type Store struct {
	rdb     redis.UniversalClient
	ns      wire.Namespace
	timeout time.Duration
}

// Open prepares the connections. It does not dial: a store that is away is
// noticed by the first call, and comes back by itself.
func Open(c Config) (*Store, error) {
	if len(c.URLs) == 0 {
		return nil, errors.New("store: no URL")
	}
	if c.Timeout == 0 {
		c.Timeout = 3 * time.Second
	}
	if c.PoolSize == 0 {
		c.PoolSize = 16
	}
	u := &redis.UniversalOptions{
		// A script that changes something is repeated by its caller, who knows
		// whether that is safe, never by the library.
		MaxRetries:            -1,
		DialTimeout:           c.Timeout,
		ReadTimeout:           c.Timeout,
		WriteTimeout:          c.Timeout,
		ContextTimeoutEnabled: true,
		PoolSize:              c.PoolSize,
		Dialer:                c.Dialer,
		DisableIdentity:       true,
	}
	for i, raw := range c.URLs {
		master, rest := cutMaster(raw)
		o, err := redis.ParseURL(rest)
		if err != nil {
			return nil, fmt.Errorf("store URL %s: %w", wire.MaskURL(raw), maskedErr(err, raw))
		}
		u.Addrs = append(u.Addrs, o.Addr)
		if i > 0 {
			continue
		}
		u.Username, u.Password, u.DB, u.MasterName = o.Username, o.Password, o.DB, master
		if o.TLSConfig != nil {
			u.TLSConfig = o.TLSConfig
			if c.TLS != nil {
				t := c.TLS.Clone()
				if t.ServerName == "" {
					t.ServerName = o.TLSConfig.ServerName
				}
				u.TLSConfig = t
			}
		}
	}
	return &Store{rdb: redis.NewUniversalClient(u), ns: c.Namespace, timeout: c.Timeout}, nil
}

// cutMaster takes ?master_name= off a URL: the library's parser refuses it.
func cutMaster(raw string) (master, rest string) {
	base, query, ok := strings.Cut(raw, "?")
	if !ok {
		return "", raw
	}
	var keep []string
	for _, kv := range strings.Split(query, "&") {
		if v, is := strings.CutPrefix(kv, "master_name="); is {
			master = v
		} else {
			keep = append(keep, kv)
		}
	}
	if len(keep) > 0 {
		base += "?" + strings.Join(keep, "&")
	}
	return master, base
}

// maskedErr keeps a URL's password out of the parser's error.
func maskedErr(err error, raw string) error {
	return errors.New(strings.ReplaceAll(wire.Mask(err.Error()), raw, wire.MaskURL(raw)))
}

// Quiet keeps the client library from writing to standard error on its own, in the
// whole program: what it has to say comes back as errors. It is for programs, not for
// whoever embeds Traction beside a client of their own.
func Quiet() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Close ends the connections.
func (s *Store) Close() error { return s.rdb.Close() }

// Namespace gives the namespace of the keys.
func (s *Store) Namespace() wire.Namespace { return s.ns }

// Ping returns nil when the store answers.
func (s *Store) Ping(ctx context.Context) error { return failed(s.rdb.Ping(ctx).Err()) }

// failed classes an error: what the server said is ErrScript, anything else means
// that it is not known what happened.
func failed(err error) error {
	if err == nil || errors.Is(err, redis.Nil) {
		return nil
	}
	var said redis.Error
	if errors.As(err, &said) && refusedLogin(said.Error()) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if errors.As(err, &said) && !transientReply(said.Error()) {
		return fmt.Errorf("%w: %s", ErrScript, wire.Visible(said.Error()))
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// refusedLogin says whether the server takes the user or the password for wrong.
func refusedLogin(msg string) bool {
	return strings.HasPrefix(msg, "WRONGPASS") || strings.HasPrefix(msg, "NOAUTH")
}

// transientReply says whether the server's refusal is a matter of time: it loads
// its data, fails over, or is not the master.
func transientReply(msg string) bool {
	for _, p := range []string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "OOM", "MISCONF", "NOREPLICAS", "ERR max number of clients", "UNBLOCKED"} {
		if strings.HasPrefix(msg, p) {
			return true
		}
	}
	return false
}

// Remembered lists the airports that are declared and those that were removed, whose
// incidents and audit are kept; unsorted, each once.
func (s *Store) Remembered(ctx context.Context) ([]string, error) {
	ids, err := s.Airports(ctx)
	if err != nil {
		return nil, err
	}
	removed, err := s.rdb.SMembers(ctx, s.ns.Removed()).Result()
	if err != nil {
		return nil, failed(err)
	}
	for _, id := range removed {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Airports lists the airports ever declared in the namespace, unsorted.
func (s *Store) Airports(ctx context.Context) ([]string, error) {
	ids, err := s.rdb.SMembers(ctx, s.ns.Airports()).Result()
	return ids, failed(err)
}

// AddAirport puts an airport on the list.
func (s *Store) AddAirport(ctx context.Context, id string) error {
	return failed(s.rdb.SAdd(ctx, s.ns.Airports(), id).Err())
}

// EvictionPolicy reads the store's maxmemory-policy; "" where it may not be read.
func (s *Store) EvictionPolicy(ctx context.Context) (string, error) {
	v, err := s.rdb.ConfigGet(ctx, "maxmemory-policy").Result()
	if err != nil {
		return "", failed(err)
	}
	return v["maxmemory-policy"], nil
}

// Persistence reports whether the store appends to a file (AOF); known is false
// where it may not be read.
func (s *Store) Persistence(ctx context.Context) (aof, known bool) {
	v, err := s.rdb.ConfigGet(ctx, "appendonly").Result()
	if err != nil {
		return false, false
	}
	x, ok := v["appendonly"]
	return x == "yes", ok
}

// Presence is a live process as its heartbeat tells it.
type Presence struct {
	ID       string   `json:"id"`
	Tower    bool     `json:"-"`
	Airports []string `json:"airports"`
	At       int64    `json:"at"` // store ms of the last heartbeat
}

// Present writes the process's heartbeat, which ends by itself after ttl.
func (s *Store) Present(ctx context.Context, id string, airports []string, tower bool, ttl time.Duration) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	b, err := json.Marshal(Presence{ID: id, Airports: airports, At: now.UnixMilli()})
	if err != nil {
		return err
	}
	_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		if len(airports) > 0 {
			p.Set(ctx, s.ns.Worker(id), b, ttl)
		}
		if tower {
			p.Set(ctx, s.ns.Tower(id), b, ttl)
		}
		return nil
	})
	return failed(err)
}

// Absent removes the process's heartbeat.
func (s *Store) Absent(ctx context.Context, id string) error {
	_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, s.ns.Worker(id))
		p.Del(ctx, s.ns.Tower(id))
		return nil
	})
	return failed(err)
}

// Presences lists the live workers and towers; a process that is both is listed
// twice.
func (s *Store) Presences(ctx context.Context) ([]Presence, error) {
	var out []Presence
	for _, prefix := range []string{s.ns.WorkerPrefix(), s.ns.TowerPrefix()} {
		var keys []string
		scan := func(ctx context.Context, c redis.Cmdable) error {
			it := c.Scan(ctx, 0, prefix+"*", 1000).Iterator()
			for it.Next(ctx) {
				keys = append(keys, it.Val())
			}
			return it.Err()
		}
		var err error
		if cluster, ok := s.rdb.(*redis.ClusterClient); ok {
			var mu sync.Mutex
			err = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
				mu.Lock()
				defer mu.Unlock()
				return scan(ctx, c)
			})
		} else {
			err = scan(ctx, s.rdb)
		}
		if err != nil {
			return nil, failed(err)
		}
		for _, k := range keys {
			raw, err := s.rdb.Get(ctx, k).Bytes()
			if errors.Is(err, redis.Nil) {
				continue // it ended meanwhile
			}
			if err != nil {
				return nil, failed(err)
			}
			var p Presence
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, fmt.Errorf("heartbeat %s: %w", wire.Visible(k), err)
			}
			p.Tower = prefix == s.ns.TowerPrefix()
			out = append(out, p)
		}
	}
	return out, nil
}
