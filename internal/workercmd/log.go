package workercmd

import (
	"io"
	"log/slog"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/wire"
)

// newLogger makes the process's log. Whatever text is logged, credentials that
// are known by their form are masked and control characters made visible.
func newLogger(to io.Writer, format, level string) (*slog.Logger, error) {
	var l slog.Level
	switch level {
	case "debug", "info", "warn", "error":
		if err := l.UnmarshalText([]byte(level)); err != nil {
			return nil, exit.Usagef("--log-level %q: %w", level, err)
		}
	default:
		return nil, exit.Usagef("--log-level %q: want debug, info, warn or error", wire.Visible(level))
	}
	opts := &slog.HandlerOptions{Level: l, ReplaceAttr: clean}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(to, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(to, opts)), nil
	}
	return nil, exit.Usagef("--log-format %q: want text or json", wire.Visible(format))
}

func clean(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(wire.Visible(wire.Mask(v)))
	case error:
		a.Value = slog.StringValue(wire.Visible(wire.Mask(v.Error())))
	}
	return a
}
