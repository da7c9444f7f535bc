package httppilot

import (
	"fmt"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"github.com/traction-go/traction/internal/config/expand"
	"github.com/traction-go/traction/internal/wire"
)

// Header is one header of every call; its value may come from a file that is
// rotated while the worker runs.
type Header struct {
	Name  string
	Value *expand.Text
}

// secretName finds headers whose whole value is a credential.
var secretName = regexp.MustCompile(`(?i)^(proxy-)?authorization$|cookie|token|secret|passw|api-?key|auth|credential|signature`)

// secrets lists what of the value must never be shown: what came from a file, and
// in a header that is one by its name, all of it, with and without its scheme.
func (h Header) secrets(value string) []string {
	all := h.Value.Files()
	if secretName.MatchString(h.Name) {
		all = append(all, value)
		if _, credential, ok := strings.Cut(value, " "); ok {
			all = append(all, credential)
		}
		all = append(all, h.Value.Variables()...)
	}
	return all
}

// Secrets lists the credentials in the header as it is now.
func (h Header) Secrets() []string { return h.secrets(h.Value.Get()) }

// ours are the headers that Traction sets, and those that belong to the transport.
var ours = []string{"Idempotency-Key", "Content-Length", "Transfer-Encoding", "Connection", "Trailer", "Te", "Upgrade"}

// CheckHeader refuses a header that no configuration may set.
func CheckHeader(name string) error {
	if name == "" || strings.IndexFunc(name, func(c rune) bool { return !tokenChar(c) }) >= 0 {
		return fmt.Errorf("%q is no header name", wire.Visible(name))
	}
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	if slices.Contains(ours, canonical) || strings.HasPrefix(canonical, "Traction-") {
		return fmt.Errorf("%s is set by the worker itself", canonical)
	}
	return nil
}

// CheckMethod refuses what is no HTTP method, or one that carries no payload.
func CheckMethod(m string) error {
	switch m {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodGet:
		return nil
	}
	return fmt.Errorf("%q: want POST, PUT, PATCH, DELETE or GET", wire.Visible(m))
}

func tokenChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// fits reports whether a header can carry the value as it is.
func fits(v string) bool {
	return strings.IndexFunc(v, func(c rune) bool { return c < ' ' || c >= 0x7f }) < 0
}

// encode makes any text a header value that url.PathUnescape gives back: %, what
// is not visible ASCII, and spaces at the ends are percent-encoded.
func encode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		edge := i == 0 || i == len(s)-1
		if c == '%' || c < ' ' || c >= 0x7f || c == ' ' && edge {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
