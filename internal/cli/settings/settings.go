// Package settings resolves where a command acts and as whom: flag, then
// environment, then context, then a local default. It reads and never connects.
package settings

import (
	"net/url"
	"os"
	"os/user"
	"strings"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/wire"
)

// The defaults where neither flag, environment nor context says anything: a
// broker and a store on this machine.
const (
	DefaultAMQP  = "amqp://guest:guest@localhost:5672/"
	DefaultRedis = "redis://localhost:6379"
)

// The environment variables.
const (
	EnvAMQP      = "TRACTION_AMQP_URL"
	EnvRedis     = "TRACTION_REDIS_URL"
	EnvNamespace = "TRACTION_NAMESPACE"
	EnvActor     = "TRACTION_ACTOR"
	EnvConfig    = "TRACTION_CONFIG"
)

// Flags are the command line's part. Empty fields were not given.
type Flags struct {
	AMQP      []string
	Redis     []string
	Namespace string
	Context   string
	Actor     string
}

// Settings are what a command acts with.
type Settings struct {
	AMQP      string // one URL, or several separated by commas
	Redis     string
	Namespace string
	Actor     string
	Context   string // the context's name; "" for none
	ReadOnly  bool   // the context forbids changes

	// Warnings say what a person may not expect, such as the environment
	// overriding the context they named.
	Warnings []string

	silent map[string]bool // fields that nobody named: they have their defaults
}

// Where gives the settings with what nobody named taken from a worker's file.
func (s Settings) Where(amqp, redis, namespace string) *Settings {
	for field, v := range map[string]struct {
		to   *string
		from string
	}{"amqp": {&s.AMQP, amqp}, "redis": {&s.Redis, redis}, "namespace": {&s.Namespace, namespace}} {
		if s.silent[field] && v.from != "" {
			*v.to = v.from
		}
	}
	return &s
}

// Resolve finds the settings. getenv reads the environment. Its errors are of
// class exit.ErrUsage.
func Resolve(f Flags, getenv func(string) string) (*Settings, error) {
	file, c, err := contextOf(f.Context, getenv)
	if err != nil {
		return nil, err
	}
	s := &Settings{Context: c, ReadOnly: file.ReadOnly, silent: map[string]bool{}}
	pick := func(field, flag, env, context, fallback string) string {
		fromEnv := getenv(env)
		switch {
		case flag != "":
			return flag
		case fromEnv != "":
			if f.Context != "" && context != "" && context != fromEnv {
				s.Warnings = append(s.Warnings, env+" overrides the "+field+" of context "+c)
			}
			return fromEnv
		case context != "":
			return context
		}
		s.silent[field] = true
		return fallback
	}
	s.AMQP = pick("amqp", strings.Join(f.AMQP, ","), EnvAMQP, file.AMQP, DefaultAMQP)
	s.Redis = pick("redis", strings.Join(f.Redis, ","), EnvRedis, file.Redis, DefaultRedis)
	s.Namespace = pick("namespace", f.Namespace, EnvNamespace, file.Namespace, string(wire.DefaultNamespace))
	s.Actor = pick("actor", f.Actor, EnvActor, file.Actor, "")
	if s.Actor == "" {
		s.Actor = userAtHost()
	}
	if _, err := wire.ParseNamespace(s.Namespace); err != nil {
		return nil, exit.Usagef("%w", err)
	}
	for _, u := range []struct{ flag, urls, schemes string }{
		{"--amqp-url", s.AMQP, "amqp amqps"},
		{"--redis-url", s.Redis, "redis rediss unix"},
	} {
		if err := checkURLs(u.flag, u.urls, u.schemes); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// checkURLs catches a typing error before it turns into a long wait.
func checkURLs(flag, urls, schemes string) error {
	for u := range strings.SplitSeq(urls, ",") {
		scheme, _, ok := strings.Cut(strings.TrimSpace(u), "://")
		if !ok || !strings.Contains(" "+schemes+" ", " "+scheme+" ") {
			return exit.WithHint(exit.Usagef("%s %s: want a URL that starts with %s://", flag, wire.MaskURL(u),
				strings.ReplaceAll(schemes, " ", ":// or ")), "give each endpoint as a URL, such as %s", example(flag))
		}
		if _, err := url.Parse(strings.TrimSpace(u)); err != nil { // its text may hold a part of the password
			return exit.WithHint(exit.Usagef("%s %s: it cannot be read as a URL", flag, wire.MaskURL(u)),
				"write it as %s; in a password, anything but letters, digits and -._~ as %%XX", example(flag))
		}
	}
	return nil
}

func example(flag string) string {
	if flag == "--amqp-url" {
		return "amqp://user:password@broker:5672/"
	}
	return "redis://store:6379"
}

// Masked gives the broker and store as they may be shown to a person.
func (s *Settings) Masked() (amqp, redis string) { return maskAll(s.AMQP), maskAll(s.Redis) }

func maskAll(urls string) string {
	parts := strings.Split(urls, ",")
	for i, p := range parts {
		parts[i] = wire.MaskURL(strings.TrimSpace(p))
	}
	return strings.Join(parts, ",")
}

func userAtHost() string {
	name := "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	return name + "@" + host
}
