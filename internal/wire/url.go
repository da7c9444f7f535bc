package wire

import (
	"net/url"
	"strings"
)

// hiddenPart stands for what a shown URL leaves out; url.URL.Redacted writes the same.
const hiddenPart = "xxxxx"

// MaskURL hides the password, and a token in the query or fragment, of a URL that
// is shown to a person. It never fails: what cannot be parsed is hidden whole.
func MaskURL(raw string) string {
	if raw == "" {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" && u.Opaque != "" {
		return masked
	}
	password := false
	if u.User != nil {
		if _, password = u.User.Password(); password {
			u.User = url.UserPassword(u.User.Username(), hiddenPart)
		}
	}
	// A password with a raw slash, question mark or hash in it ends the authority
	// early, and the rest of it would be shown as the path.
	if strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") && (password || u.Host == "" || strings.Contains(u.Host, ":")) {
		return masked
	}
	if u.RawQuery != "" {
		u.RawQuery = maskQuery(u.Query()).Encode()
	}
	if f := Mask(u.Fragment); f != u.Fragment {
		u.Fragment, u.RawFragment = hiddenPart, ""
	}
	return Visible(u.String())
}

// maskQuery hides each value whose name, or whose own form, gives a secret away.
func maskQuery(q url.Values) url.Values {
	for name, values := range q {
		for i, v := range values {
			if probe := "?" + name + "=x"; Mask(probe) != probe || Mask(v) != v {
				values[i] = hiddenPart
			}
		}
	}
	return q
}

// MaskHook shows of a webhook's URL only where it goes: chat services put the
// secret into the path.
func MaskHook(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		if raw == "" {
			return ""
		}
		return masked
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return Visible(shown.String()) + "/..."
	}
	return Visible(shown.String())
}
