package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/traction-go/traction/internal/wire"
)

// fakeJWT and the like are put together here, so that no scanner of this
// repository takes them for lost credentials.
var (
	fakeJWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiJhY21lIn0.c2lnbmF0dXJlLXMzY3IzdA"
	fakeAWS = "AKIA" + "IOSFODNN7S3CR3TX"
	fakeGit = "ghp_" + strings.Repeat("s3cr3t", 6)
	fakePEM = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIs3cr3t\ns3cr3t/s3cr3t==\n-----END RSA PRIVATE" + " KEY-----"
)

// Each text holds s3cr3t where a credential stands; what is kept must stay.
var leaks = []struct{ name, in, kept string }{
	{"header", "POST failed\nAuthorization: Bearer s3cr3t\nStatus: 401", "Status: 401"},
	{"header basic", "Authorization: Basic s3cr3tczNjcjN0OnMzY3IzdA== gave 401", "gave 401"},
	{"header raw token", "Authorization: s3cr3t", "Authorization: "},
	{"header unknown scheme", "Authorization: Acme s3cr3t, then 401", "then 401"},
	{"header digest", `Authorization: Digest username="u", response="s3cr3t"` + "\nHTTP 401", "HTTP 401"},
	{"header signed", "Authorization: AWS4-HMAC-SHA256 Credential=s3cr3t/x, SignedHeaders=a;b, Signature=s3cr3t\nHTTP 403", "HTTP 403"},
	{"header proxy", "Proxy-Authorization: Basic s3cr3t", "Proxy-Authorization: Basic "},
	{"header of a Go map", "map[Authorization:[Bearer s3cr3t] Accept:[*/*]]", "Accept:[*/*]"},
	{"header in JSON", `{"headers":{"Authorization":"Bearer s3cr3t"},"status":401}`, `"status":401`},
	{"header in JSON, apostrophe", `{'authorization': 'Bearer s3cr3t', 'status': 401}`, `'status': 401`},
	{"curl", `curl -H "Authorization: Bearer s3cr3t" https://api.acme.example/v1`, "https://api.acme.example/v1"},
	{"bearer alone", "sent bearer s3cr3t twice", "twice"},
	{"basic alone", "sent Basic s3cr3tAA== twice", "twice"},
	{"bearer in a query", "/v1?auth=Bearer%20s3cr3t", "/v1?auth="},
	{"cookie", "Cookie: theme=dark; sid=s3cr3t\nHTTP 401", "HTTP 401"},
	{"cookie, quoted", `Cookie: a="x"; sid=s3cr3t` + "\nHTTP 401", "HTTP 401"},
	{"set-cookie", "Set-Cookie: sid=s3cr3t; HttpOnly", "Set-Cookie: "},
	{"cookies in JSON", `{"cookies":"sid=s3cr3t","status":401}`, `"status":401`},
	{"userinfo", "dial amqp://worker:s3cr3t@mq.example:5672/ refused", "mq.example:5672/ refused"},
	{"userinfo with an at", "dial amqp://worker:s3cr@s3cr3t@mq.example refused", "mq.example refused"},
	{"userinfo with a slash", "dial amqp://worker:x/s3cr3t@mq.example refused", "mq.example refused"},
	{"userinfo without user", "redis://:s3cr3t@store.example:6379/0", "store.example:6379/0"},
	{"query", "GET https://api.acme.example/v1?access_token=s3cr3t&page=2: 401", "page=2: 401"},
	{"query key", "GET https://maps.example/v1?key=s3cr3t&q=x", "q=x"},
	{"query api_key", "GET /v1?q=x&api_key=s3cr3t HTTP/1.1", "q=x"},
	{"form", "grant_type=password&username=u&password=s3cr3t&client_secret=s3cr3t", "username=u"},
	{"dsn", "host=db user=app password=s3cr3t dbname=x", "dbname=x"},
	{"dsn, quoted", "host=db password='s3cr3t and s3cr3t' dbname=x", "dbname=x"},
	{"connection string", "Server=db;Pwd=s3cr3t;Database=x", "Database=x"},
	{"yaml", "user: app\npassword: s3cr3t\nhost: db", "host: db"},
	{"JSON", `{"token":"s3cr3t","code":17}`, `"code":17`},
	{"JSON spaced", `{ "refresh_token" : "s3cr3t" , "code" : 17 }`, `"code" : 17`},
	{"JSON, escaped quote", `{"token":"ab\"s3cr3t","code":17}`, `"code":17`},
	{"JSON array", `{"tokens":["s3cr3t","s3cr3t"],"code":17}`, `"code":17`},
	{"JSON object", `{"token":{"value":"s3cr3t"},"code":17}`, `"code":17`},
	{"JSON nested", `{"credentials":{"user":"u","deep":{"password":"s3cr3t"}},"code":17}`, `"code":17`},
	{"JSON in JSON", `{"body":"{\"token\":\"s3cr3t\",\"code\":17}"}`, `\"code\":17`},
	{"JSON cut off", `{"code":17,"client_secret":"s3cr3t`, `"code":17`},
	{"header of a vendor", "X-Api-Key: s3cr3t\nX-Request-Id: 17", "X-Request-Id: 17"},
	{"header of a vendor 2", "X-Auth-Token: s3cr3t\nX-Request-Id: 17", "X-Request-Id: 17"},
	{"environment", "ACME_SECRET_KEY=s3cr3t ACME_REGION=eu", "ACME_REGION=eu"},
	{"under an error's name", `invalid_token: password=s3cr3t now`, "now"},
	{"under an error's name 2", `invalid_token="abs3cr3t9"`, "invalid_token="},
	{"known by its form: jwt", "got " + fakeJWT + " back", "back"},
	{"known by its form: aws", "id " + fakeAWS + " denied", "denied"},
	{"known by its form: git", "push with " + fakeGit + " denied", "denied"},
	{"known by its form: pem", "key " + fakePEM + " is bad", "is bad"},
}

func TestMaskHides(t *testing.T) {
	for _, c := range leaks {
		t.Run(c.name, func(t *testing.T) {
			got := wire.Mask(c.in)
			for _, secret := range []string{"s3cr3t", "S3CR3T", "c2lnbmF0dXJl"} {
				if strings.Contains(got, secret) {
					t.Errorf("leaks %s\n in  %s\n out %s", secret, c.in, got)
				}
			}
			if !strings.Contains(got, "[masked]") || !strings.Contains(got, c.kept) {
				t.Errorf("want %q kept\n in  %s\n out %s", c.kept, c.in, got)
			}
			if json.Valid([]byte(c.in)) && strings.Contains(c.in, `":"`) && !strings.ContainsAny(got, `\`) && !strings.Contains(c.name, "array") && !strings.Contains(c.name, "object") && !json.Valid([]byte(got)) {
				t.Errorf("JSON no more: %s", got)
			}
			if again := wire.Mask(got); again != got {
				t.Errorf("masking twice\n once  %s\n twice %s", got, again)
			}
			clean := wire.CleanEvidence(c.in)
			if strings.Contains(clean, "s3cr3t") {
				t.Errorf("the evidence leaks: %s", clean)
			}
		})
	}
}

// What vendors say about credentials is what an operator needs to read at night.
func TestMaskLeavesReadable(t *testing.T) {
	for _, s := range []string{
		`{"error":"invalid_grant","message":"token expired"}`,
		`{"error":"invalid_token","error_description":"The access token expired"}`,
		`{"error":{"code":"token_expired","message":"Your token has expired, please renew it."}}`,
		`{"errors":[{"field":"password","code":"too_short"}]}`,
		`{"invalid_token":"The token has expired"}`,
		`{"token":null,"password":""}`,
		`{"access_token":null,"token_type":null,"expires_in":3600}`,
		"401 token expired",
		"401 Unauthorized: token expired",
		"invalid_token: the access token expired",
		"the signature does not match",
		"Basic authentication is required",
		"bearer token missing",
		"Bearer authentication failed",
		"basic information only",
		`WWW-Authenticate: Bearer realm="acme", error="insufficient_scope"`,
		"This key is not allowed to write",
		`duplicate key value violates unique constraint "company_pkey"`,
		`ERROR: Key (id)=(42) already exists.`,
		`{"max_tokens":4096,"prompt_tokens":12}`,
		"over the limit: total_tokens=8200 of 8192",
		"password expired, secret revoked, api key unknown",
		"keyboard: qwerty, monkey=1, tokenizer failed",
		"dial tcp 127.0.0.1:5672: connect: connection refused",
		"Get https://api.acme.example/v1/contacts?page=2: EOF",
		"see https://docs.acme.example/errors#auth",
		"mail to ops@acme.example failed",
		"authorization failed for company 17",
		"rate limit: 20 per 1s, retry after 30",
		"",
	} {
		if got := wire.Mask(s); got != s {
			t.Errorf("masked too much\n in  %s\n out %s", s, got)
		}
	}
}

func TestMaskKnownValues(t *testing.T) {
	got := wire.Mask(`sent hunter22 and hunter2 to x, "a\"b&c" as a%22b%26c or a\"b&c`, "hunter2", "hunter22", `a"b&c`, "abc", "")
	for _, secret := range []string{"hunter", "]2", `b&c`, "b%26c"} {
		if strings.Contains(got, secret) {
			t.Errorf("leaks %q: %s", secret, got)
		}
	}
	if got := wire.Mask("the cat sat", "cat"); got != "the cat sat" {
		t.Errorf("a value too short to be a secret was masked: %s", got)
	}
}

// One megabyte of escapes, bad UTF-8 and secrets comes out small and harmless.
func TestCleanEvidenceOfAMegabyte(t *testing.T) {
	var evil strings.Builder
	for evil.Len() < 1<<20 {
		for _, c := range leaks {
			evil.WriteString("\x1b[2J\x1b]0;owned\a" + c.in + "\u202e\x80\xff\u009b31m\x00 ")
		}
	}
	got := wire.CleanEvidence(evil.String())
	checkEvidence(t, got)
	if strings.Contains(got, "s3cr3t") {
		t.Errorf("leaks: %s", got)
	}
	if len(got) < wire.MaxEvidence/2 {
		t.Errorf("only %d bytes are left: %s", len(got), got)
	}
}

// A secret that lies across any of the cuts is hidden whole.
func TestCleanEvidenceAtTheCuts(t *testing.T) {
	long := "eyJ" + strings.Repeat("x", 8000) + ".a.b "
	for _, limit := range []int{wire.MaxEvidence, 8 * wire.MaxEvidence} {
		for _, secret := range []string{"https://u:s3cr3ts3cr3ts3cr3t@h", "Authorization: Bearer s3cr3ts3cr3ts3cr3t", fakeJWT, `"token":"s3cr3ts3cr3t"`} {
			for at := limit - len(secret) - 2; at <= limit+2; at++ {
				prefix := strings.Repeat("y ", at/2+1)[:at]
				if limit > wire.MaxEvidence {
					prefix = long + strings.Repeat("y ", at)[:at-len(long)]
				}
				got := wire.CleanEvidence(prefix + secret + " tail")
				checkEvidence(t, got)
				if strings.Contains(got, "s3cr3t") || strings.Contains(got, "eyJ") {
					t.Fatalf("leaks %q at %d: ...%s", secret, at, got[max(0, len(got)-60):])
				}
			}
		}
	}
}

// Text without a character in it, or without a space, is still evidence.
func TestCleanEvidenceOfStrangeText(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("\x80", 1<<20), "xy" + strings.Repeat("\x80", 1<<20), strings.Repeat("x", 1<<20), strings.Repeat("€", 1<<20), strings.Repeat("\x1b", 1<<20),
	} {
		got := wire.CleanEvidence(s)
		checkEvidence(t, got)
		if len(got) < wire.MaxEvidence-8 {
			t.Errorf("%d bytes are left of %.8q...", len(got), s)
		}
	}
}

func checkEvidence(t *testing.T, s string) {
	t.Helper()
	if len(s) > wire.MaxEvidence {
		t.Errorf("%d bytes of evidence", len(s))
	}
	checkVisible(t, s)
}

func checkVisible(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u00ad\u061c\u180e\u200b\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\u3164\ufe0f\ufeff\U000e0041\U000e0100", r) {
			t.Errorf("%U is not hidden in %q", r, s)
		}
	}
}

func FuzzCleanEvidence(f *testing.F) {
	for _, c := range leaks {
		f.Add(c.in, "s3cr3t")
	}
	f.Add("\x1b[31m\u202e\x80", "")
	f.Add("token=nul\x00l cookie: \n password=\\", "pass")
	f.Fuzz(func(t *testing.T, s, also string) {
		got := wire.CleanEvidence(s)
		checkEvidence(t, got)
		if again := wire.CleanEvidence(got); again != got {
			t.Errorf("cleaning twice\n once  %q\n twice %q", got, again)
		}
		checkEvidence(t, wire.CleanEvidence(s, also))
	})
}

func BenchmarkCleanEvidence(b *testing.B) {
	plain := strings.Repeat("the vendor says no, again and again; ", 300)
	evil := ""
	for len(evil) < 1<<16 {
		for _, c := range leaks {
			evil += c.in + " "
		}
	}
	nested := strings.Repeat("token_type=", 4000)
	for name, s := range map[string]string{"short": "401 token expired", "plain": plain, "secrets": evil, "nested": nested} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				wire.CleanEvidence(s)
			}
		})
	}
}
