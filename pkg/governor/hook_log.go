package governor

import (
	"context"
	"log/slog"

	"github.com/traction-go/traction/internal/wire"
)

// LogHook writes each notification as one WARN line of the log, with the fields
// type, scope, reason, incident and evidence. It takes every notification. nil
// means slog.Default(). It is the hook where Config names none.
func LogHook(log *slog.Logger) Hook {
	if log == nil {
		log = slog.Default()
	}
	return logHook{log}
}

type logHook struct{ log *slog.Logger }

func (h logHook) Notify(ctx context.Context, n Notification) error {
	attrs := []slog.Attr{
		slog.String("type", n.Type),
		slog.String("scope", n.Scope),
		slog.String("reason", n.Reason),
		slog.String("incident", n.Incident),
		slog.String("evidence", wire.Visible(n.Evidence)),
	}
	if n.Observed {
		attrs = append(attrs, slog.Bool("observed", true))
	}
	h.log.LogAttrs(ctx, slog.LevelWarn, "traction.notify", attrs...)
	return nil
}
