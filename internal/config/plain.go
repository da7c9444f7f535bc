package config

import (
	"net"

	"github.com/traction-go/traction/internal/httppilot"
)

// plainSecret reports whether the call sends a credential over plain http to a
// host that is not this one.
func plainSecret(h HTTP) bool {
	u, err := httppilot.ParseURL(h.URL)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() {
		return false
	}
	if u.User != nil {
		return true
	}
	for _, header := range h.Headers {
		if len(header.Secrets()) > 0 {
			return true
		}
	}
	return false
}
