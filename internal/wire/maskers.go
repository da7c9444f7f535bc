package wire

import (
	"regexp"
	"strings"
)

// What stands between a name and its value; values in quotes (plain, or of JSON
// inside a JSON string) and brackets (a printed Go map); and the rest of a line,
// whether its end is a newline or is shown as one.
const (
	sepRE    = `(\\*["']?\s*[:=]\s*)`
	quotedRE = `"(?:[^"\\]|\\.)*"?|'[^']*'?|\\+["'][^"'\\]*|\[[^\]]*\]?`
	lineRE   = `(?:[^\r\n\\]|\\[^nr])*`
)

// The order matters: a header's rules know where its value ends, which the
// general rule for names does not.
var maskers []masker

// A value is masked by the same rules again (hideNamed), so that a plain
// declaration would be a cycle.
func init() {
	maskers = []masker{
		{
			words: []string{"private key"},
			re:    regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`),
			with:  wholly,
		},
		{
			words: []string{"authorization"},
			re: regexp.MustCompile(`(?is)(authorization)` + sepRE + `(` + quotedRE +
				`|(?:digest|hawk|oauth|mac|signature|aws4-\S+)[ \t]` + lineRE + // many parameters: the rest of the line
				`|[^\s"',;\\]+(?:[ \t]+[^\s"',;\\]+)?)`), // a scheme and a token, or a token
			with: func(g []string) string { return g[1] + g[2] + hideCredential(g[3]) },
		},
		{
			words: []string{"cookie"},
			re:    regexp.MustCompile(`(?is)(cookies?)` + sepRE + `(` + quotedRE + `|[^\s\[]` + lineRE + `)`),
			with:  func(g []string) string { return g[1] + g[2] + hideValue(g[3]) },
		},
		{
			words: []string{"bearer", "basic"},
			re:    regexp.MustCompile(`(?i)\b(bearer|basic)((?:\s|%20|\+)+)([A-Za-z0-9._~+/=-]+)`),
			with:  hideScheme,
		},
		{
			words: []string{"://"},
			re:    regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)(?:[^\s/"<>]*|[^\s/"<>?#:]*:[0-9]*[^\s0-9/"<>?#][^\s"<>?#]*)@`),
			with:  func(g []string) string { return g[1] + masked + "@" },
		},
		{
			words: []string{"pass", "pwd", "secret", "token", "key", "credential", "sig", "session", "jwt", "otp"},
			re: regexp.MustCompile(`(?is)([a-z0-9_-]*(?:password|passwd|passphrase|passcode|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|auth[_-]?key|credential|signature|session[_-]?id)[a-z0-9_-]*|\b(?:pwd|pass|sig|jwt|otp))` +
				sepRE + `(` + quotedRE + `|\{[^{}]*(?:\}|$)|[^\s"'&,;{}\[][^\s"'&,;}]*)`),
			with: hideNamed,
		},
		{
			words: []string{"key=", "auth=", "sid=", "session=", "access="},
			re:    regexp.MustCompile(`(?i)([?&](?:key|auth|sid|session|access)=)([^\s&"'#]+)`),
			with:  func(g []string) string { return g[1] + masked },
		},
		{
			words: []string{"eyj"},
			re:    regexp.MustCompile(`(?:\b|eyJ[A-Za-z0-9_-]{8,}\.)eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*`),
			with:  wholly,
		},
		{
			words: []string{"akia", "asia", "gh", "glpat-", "xox", "k_live_", "k_test_", "sk-", "aiza"},
			re: regexp.MustCompile(`\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{20,}` +
				`|xox[a-z]-[A-Za-z0-9-]{10,}|[prsw]k_(?:live|test)_[A-Za-z0-9]{10,}|sk-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,})`),
			with: wholly,
		},
	}
}

func wholly([]string) string { return masked }

// hideValue masks a value and keeps its quotes, so that JSON stays JSON.
func hideValue(v string) string {
	open := len(v) - len(strings.TrimLeft(v, `\`))
	if open < len(v) && (v[open] == '"' || v[open] == '\'') {
		q := v[:open+1]
		switch rest := v[open+1:]; {
		case rest == "" || rest == q: // empty is worth knowing
			return v
		case open == 0 && strings.HasSuffix(rest, q):
			return q + masked + q
		}
		return q + masked
	}
	return masked
}

var schemes = regexp.MustCompile(`(?i)^(\\*["']|\[)?((?:bearer|basic|digest|token|apikey|negotiate|ntlm|hawk|oauth|mac|aws4-[a-z0-9-]+)[ \t]+)`)

// hideCredential masks the value of an Authorization header and keeps its scheme.
func hideCredential(v string) string {
	g := schemes.FindStringSubmatch(v)
	if g == nil {
		return hideValue(v)
	}
	end := ""
	switch {
	case (g[1] == `"` || g[1] == `'`) && strings.HasSuffix(v, g[1]):
		end = g[1]
	case g[1] == "[" && strings.HasSuffix(v, "]") && !strings.HasSuffix(v, masked):
		end = "]"
	}
	return g[1] + g[2] + masked + end
}

// challengeWords follow Bearer or Basic where no credential does: in prose, and
// in a WWW-Authenticate challenge.
var challengeWords = regexp.MustCompile(`(?i)^(?:tokens?|auth|authentication|authorization|credentials?|access|scheme|header|challenge|is|was|are|not|must|has|may|can|of|in|and|or|for|to|with|plan|tier|mode|user|type|format|expired|invalid|missing|required|realm=.*|error=.*|error_[a-z]+=.*|scope=.*|charset=.*|resource_metadata=.*|authorization_uri=.*)[.]?$`)

// hideScheme masks a token after Bearer or Basic. Basic is also a common word:
// there the token has to look like base64.
func hideScheme(g []string) string {
	tok := g[3]
	if challengeWords.MatchString(tok) {
		return g[0]
	}
	if strings.EqualFold(g[1], "basic") && !strings.ContainsAny(tok, "0123456789=ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return g[0]
	}
	return g[1] + g[2] + masked
}

var (
	// errorNames name a complaint about a credential, or a fact about one.
	errorNames  = regexp.MustCompile(`(?i)^(?:invalid|expired|missing|bad|wrong|unknown|no|unsupported|revoked|malformed|incorrect|requires?|required)[_-]|[_-](?:expired|invalid|missing|required|revoked|errors?|type|count|limits?|usage|used|expiry|expires|expires_in|expires_at|policy|length)$`)
	plainNumber = regexp.MustCompile(`^[0-9]{1,9}$`)
)

// hideNamed masks the value of a name that speaks of a secret.
func hideNamed(g []string) string {
	name, sep, v := g[1], g[2], g[3]
	switch strings.ToLower(v) {
	case "null", "nil", "none", "true", "false", "undefined", "<nil>":
		return g[0]
	}
	fact := plainNumber.MatchString(v)
	if errorNames.MatchString(name) && (fact || prose(v)) || fact && strings.HasSuffix(strings.ToLower(name), "tokens") {
		return name + sep + Mask(v) // a secret may stand in what it says
	}
	return name + sep + hideValue(v)
}

var word = regexp.MustCompile(`^["'\\]*[A-Za-z]+["'.\\]*$`)

// prose tells a sentence, or a word of one, from a secret.
func prose(v string) bool { return word.MatchString(v) || strings.Count(v, " ") >= 2 }
