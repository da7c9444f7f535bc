package rabbit

import (
	"context"

	"github.com/traction-go/traction/internal/broker"
)

// Server tells what the broker said of itself when the connection began.
func (t *transport) Server(ctx context.Context) (broker.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.CallTimeout)
	defer cancel()
	c, err := t.rest.get(ctx)
	if err != nil {
		return broker.Server{}, err
	}
	said := func(key string) string { v, _ := c.conn.Properties[key].(string); return v }
	return broker.Server{Product: said("product"), Version: said("version"), Endpoint: c.raw.RemoteAddr().String(),
		FrameMax: c.conn.Config.FrameSize}, nil
}
