// Package factory is what every command is made from: the streams, the global
// flags, and the governor, which is opened when a command first asks for it. A
// command that only prints help never connects.
package factory

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/internal/cli/settings"
	"github.com/traction-go/traction/internal/cli/streams"
	"github.com/traction-go/traction/pkg/governor"
)

// DefaultTimeout bounds a command where --timeout says nothing.
const DefaultTimeout = 10 * time.Second

// Factory is shared by the commands of one invocation.
type Factory struct {
	*streams.Streams
	Getenv func(string) string
	Now    func() time.Time

	// The global flags.
	Flags   settings.Flags
	Output  render.Format // default AsTable
	NoColor bool
	Quiet   bool
	Timeout time.Duration // default DefaultTimeout

	mu       sync.Mutex
	settings *settings.Settings
	gov      *governor.Governor
}

// New gives a factory with the defaults.
func New(s *streams.Streams, getenv func(string) string) *Factory {
	if getenv == nil {
		getenv = os.Getenv
	}
	return &Factory{Streams: s, Getenv: getenv, Now: time.Now, Output: render.AsTable, Timeout: DefaultTimeout}
}

// Settings resolves where the command acts, once.
func (f *Factory) Settings() (*settings.Settings, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.settings == nil {
		s, err := settings.Resolve(f.Flags, f.Getenv)
		if err != nil {
			return nil, err
		}
		f.settings = s
		for _, w := range s.Warnings {
			f.Notef("warning: %s\n", w)
		}
	}
	return f.settings, nil
}

// Bound gives a context that ends after --timeout: for one question and its
// answer, not for a command that streams or follows.
func (f *Factory) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, f.Timeout)
}

// Palette says whether Out is painted.
func (f *Factory) Palette() render.Palette {
	return render.Palette{Color: f.Color && !f.NoColor}
}

// Notef writes to Err, unless --quiet.
func (f *Factory) Notef(format string, args ...any) {
	if !f.Quiet {
		fmt.Fprintf(f.Err, format, args...)
	}
}

// Change says on Err where the command is about to act, and refuses where the
// context is read-only. Every command that changes something calls it first.
func (f *Factory) Change() error {
	s, err := f.Settings()
	if err != nil {
		return err
	}
	amqp, redis := s.Masked()
	where := ""
	if s.Context != "" {
		where = "  context " + s.Context
	}
	f.Notef("broker %s  store %s  namespace %s%s\n", amqp, redis, s.Namespace, where)
	if s.ReadOnly {
		return exit.WithHint(fmt.Errorf("context %s is read-only: %w", s.Context, governor.ErrRefused),
			"choose another --context, or take read_only out of the config file")
	}
	return nil
}

// Actor is who acts, for the audit.
func (f *Factory) Actor() (string, error) {
	s, err := f.Settings()
	if err != nil {
		return "", err
	}
	return s.Actor, nil
}
