package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/cli/exit"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }
}

func config(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const two = `current: staging
contexts:
  staging:
    amqp: amqp://staging/
    namespace: stg
  prod:
    amqp: amqps://ops:hunter2@prod/
    redis: rediss://prod
    read_only: true
`

func TestOrder(t *testing.T) {
	path := config(t, two)
	for name, tt := range map[string]struct {
		f                               Flags
		env                             []string
		amqp, redis, namespace, context string
		readOnly                        bool
	}{
		"defaults":                {amqp: DefaultAMQP, redis: DefaultRedis, namespace: "tr"},
		"context":                 {env: []string{EnvConfig, path}, amqp: "amqp://staging/", redis: DefaultRedis, namespace: "stg", context: "staging"},
		"named context":           {f: Flags{Context: "prod"}, env: []string{EnvConfig, path}, amqp: "amqps://ops:hunter2@prod/", redis: "rediss://prod", namespace: "tr", context: "prod", readOnly: true},
		"environment over it":     {env: []string{EnvConfig, path, EnvAMQP, "amqp://env/", EnvNamespace, "env"}, amqp: "amqp://env/", redis: DefaultRedis, namespace: "env", context: "staging"},
		"flag over both":          {f: Flags{AMQP: []string{"amqp://flag/"}, Namespace: "flag"}, env: []string{EnvConfig, path, EnvAMQP, "amqp://env/", EnvNamespace, "env"}, amqp: "amqp://flag/", redis: DefaultRedis, namespace: "flag", context: "staging"},
		"several endpoints":       {f: Flags{Redis: []string{"redis://a:1", "redis://b:2"}}, amqp: DefaultAMQP, redis: "redis://a:1,redis://b:2", namespace: "tr"},
		"no file where none is":   {env: []string{"HOME", t.TempDir()}, amqp: DefaultAMQP, redis: DefaultRedis, namespace: "tr"},
		"an empty file is a file": {env: []string{EnvConfig, config(t, "")}, amqp: DefaultAMQP, redis: DefaultRedis, namespace: "tr"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Resolve(tt.f, env(tt.env...))
			if err != nil {
				t.Fatal(err)
			}
			if s.AMQP != tt.amqp || s.Redis != tt.redis || s.Namespace != tt.namespace || s.Context != tt.context || s.ReadOnly != tt.readOnly {
				t.Errorf("got %+v", s)
			}
			if s.Actor == "" || !strings.Contains(s.Actor, "@") {
				t.Errorf("actor %q: want user@host", s.Actor)
			}
		})
	}
}

func TestANamedContextThatIsOverriddenWarns(t *testing.T) {
	s, err := Resolve(Flags{Context: "prod"}, env(EnvConfig, config(t, two), EnvAMQP, "amqp://elsewhere/"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], EnvAMQP+" overrides the amqp of context prod") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

func TestRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		f    Flags
		env  []string
		says string
	}{
		"unknown context":              {f: Flags{Context: "prd"}, env: []string{EnvConfig, config(t, two)}, says: `context "prd"`},
		"named context without a file": {f: Flags{Context: "prod"}, env: []string{"HOME", "/nowhere"}, says: "no such file"},
		"missing file that was named":  {env: []string{EnvConfig, "/nowhere/c.yaml"}, says: "no such file"},
		"unknown key":                  {env: []string{EnvConfig, config(t, "contexts:\n  prod:\n    namespce: x\n")}, says: "[3:5]"},
		"wrong type":                   {env: []string{EnvConfig, config(t, "contexts: [1]\n")}, says: "[1:"},
		"bad namespace":                {f: Flags{Namespace: "A B"}, says: "namespace"},
		"not a URL":                    {f: Flags{AMQP: []string{"localhost:5672"}}, says: "--amqp-url"},
		"wrong scheme":                 {env: []string{EnvRedis, "http://x"}, says: "--redis-url"},
		"a blank in the host":          {f: Flags{AMQP: []string{"amqp://u:hunter2@ho st/"}}, says: "cannot be read as a URL"},
		"a bare % in the password":     {f: Flags{Redis: []string{"redis://:hunter2%@host"}}, says: "cannot be read as a URL"},
		"second endpoint without one":  {f: Flags{Redis: []string{"redis://a", "b:6379"}}, says: "--redis-url"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Resolve(tt.f, env(tt.env...))
			if strings.Contains(fmt.Sprint(err), "hunter2") {
				t.Errorf("a password in %v", err)
			}
			if exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want a usage error with %q", err, tt.says)
			}
		})
	}
}

func TestNoPasswordIsShown(t *testing.T) {
	s, err := Resolve(Flags{Context: "prod"}, env(EnvConfig, config(t, two)))
	if err != nil {
		t.Fatal(err)
	}
	amqp, redis := s.Masked()
	if strings.Contains(amqp+redis, "hunter2") || !strings.Contains(amqp, "ops") {
		t.Errorf("shown as %q, %q", amqp, redis)
	}
	_, err = ParseFile([]byte("contexts:\n  prod:\n    amqp: [amqps://ops:hunter2@prod/]\n"))
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v: want an error that does not quote the file", err)
	}
}

func TestAWorkersFileFillsWhatNobodyNamed(t *testing.T) {
	s, err := Resolve(Flags{Redis: []string{"redis://flag/"}}, func(k string) string {
		return map[string]string{EnvNamespace: "env"}[k]
	})
	if err != nil {
		t.Fatal(err)
	}
	at := s.Where("amqp://file/", "redis://file/", "file")
	if at.AMQP != "amqp://file/" || at.Redis != "redis://flag/" || at.Namespace != "env" {
		t.Errorf("%s %s %s", at.AMQP, at.Redis, at.Namespace)
	}
	if s.AMQP != DefaultAMQP || s.Where("", "", "").AMQP != DefaultAMQP {
		t.Errorf("the settings themselves are %s, want the default", s.AMQP)
	}
}
