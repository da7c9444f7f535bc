package factory

import (
	"context"
	"log/slog"

	"github.com/traction-go/traction/pkg/governor"
)

// Governor opens the governor, once, and gives the same one afterwards. ctx
// bounds the opening.
func (f *Factory) Governor(ctx context.Context) (*governor.Governor, error) {
	s, err := f.Settings()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gov != nil {
		return f.gov, nil
	}
	level := slog.LevelWarn
	if f.Quiet {
		level = slog.LevelError
	}
	gov, err := governor.Open(ctx, governor.Config{
		AMQP:      s.AMQP,
		Redis:     s.Redis,
		Namespace: s.Namespace,
		Actor:     s.Actor,
		Name:      "tractionctl",
		NoTower:   true,
		Logger:    slog.New(slog.NewTextHandler(f.Err, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return nil, err
	}
	f.gov = gov
	return gov, nil
}

// Close ends what Governor opened. Closing twice, or nothing, is fine.
func (f *Factory) Close(ctx context.Context) error {
	f.mu.Lock()
	gov := f.gov
	f.gov = nil
	f.mu.Unlock()
	if gov == nil {
		return nil
	}
	return gov.Close(ctx)
}
