package wire

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// masked stands for every secret.
const masked = "[masked]"

// Mask replaces credentials in s: in headers, URLs, JSON (also JSON in a JSON
// string), key=value text, and tokens of a well-known form. also lists secret
// values known to the caller (a header marked secret, a token from the
// configuration); they are masked wherever they appear.
//
// In doubt it masks. It leaves what only speaks of credentials: "token expired",
// {"error":"invalid_token"}, "max_tokens":4096.
func Mask(s string, also ...string) string {
	s = maskValues(s, also)
	lower := strings.ToLower(s)
	for _, m := range maskers {
		if m.likely(lower) {
			s = m.mask(s)
		}
	}
	return s
}

// CleanEvidence bounds, masks and makes visible what an outcome says of itself,
// in at most MaxEvidence bytes. It is applied before the text leaves the worker.
func CleanEvidence(s string, also ...string) string {
	// Masking sees more than it keeps, so that a secret cut in half at the bound
	// is still recognized; it does not see a whole megabyte.
	head := bound(s, 8*MaxEvidence)
	out := Mask(head, also...)
	if len(head) < len(s) && len(out) <= 4*MaxEvidence {
		// So much was masked that the place of this cut may be shown.
		out = out[:strings.LastIndexAny(out, " \t\r\n")+1] + "..."
	}
	out = shorten(Visible(out))
	// Escapes and cuts can make a secret of what was none: look again, until
	// cleaning changes nothing.
	for range 4 {
		again := shorten(Mask(out))
		if again == out {
			break
		}
		out = again
	}
	return out
}

func shorten(s string) string {
	if len(s) <= MaxEvidence {
		return s
	}
	return bound(s, MaxEvidence-3) + "..."
}

// maskValues masks known secret values, in the forms in which they travel. The
// longest goes first, since one may be the start of another.
func maskValues(s string, also []string) string {
	var forms []string
	for _, v := range also {
		if len(v) < 4 {
			continue // it would mask half of every text
		}
		quoted := strconv.Quote(v)
		forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v), quoted[1:len(quoted)-1])
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	for _, v := range forms {
		s = strings.ReplaceAll(s, v, masked)
	}
	return s
}

// A masker finds one kind of secret.
type masker struct {
	words []string // one of these is in the lower-case text, or there is nothing to find
	re    *regexp.Regexp
	with  func(groups []string) string // group 0 is all that was found
}

func (m masker) likely(lower string) bool {
	return slices.ContainsFunc(m.words, func(w string) bool { return strings.Contains(lower, w) })
}

func (m masker) mask(s string) string {
	found := m.re.FindAllStringSubmatchIndex(s, -1)
	if found == nil {
		return s
	}
	var b strings.Builder
	last := 0
	groups := make([]string, m.re.NumSubexp()+1)
	for _, at := range found {
		for i := range groups {
			groups[i] = ""
			if at[2*i] >= 0 {
				groups[i] = s[at[2*i]:at[2*i+1]]
			}
		}
		b.WriteString(s[last:at[0]])
		b.WriteString(m.with(groups))
		last = at[1]
	}
	b.WriteString(s[last:])
	return b.String()
}
