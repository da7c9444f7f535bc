package wire_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/wire"
)

func TestMaskURL(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"amqp://worker:s3cr3t@mq.example:5672/prod":         "amqp://worker:xxxxx@mq.example:5672/prod",
		"redis://:s3cr3t@store.example:6379/0":              "redis://:xxxxx@store.example:6379/0",
		"amqps://w%40x:s%2F3cr3t@mq.example":                "amqps://w%40x:xxxxx@mq.example",
		"amqp://worker:s3cr@s3cr3t@mq.example":              "amqp://worker:xxxxx@mq.example",
		"amqp://mq.example:5672":                            "amqp://mq.example:5672",
		"amqp://worker@mq.example/a%2Fb":                    "amqp://worker@mq.example/a%2Fb",
		"amqp://worker:s3cr3t@/prod":                        "amqp://worker:xxxxx@/prod",
		"https://h.example/hook?token=s3cr3t&page=2":        "https://h.example/hook?page=2&token=xxxxx",
		"https://h.example/hook?key=s3cr3t":                 "https://h.example/hook?key=xxxxx",
		"https://h.example/?next=https://u:s3cr3t@x":        "https://h.example/?next=xxxxx",
		"https://h.example/?token=s3cr3t&token=s3cr3t":      "https://h.example/?token=xxxxx&token=xxxxx",
		"https://h.example/#access_token=s3cr3t":            "https://h.example/#xxxxx",
		"https://h.example/#usage":                          "https://h.example/#usage",
		"amqp://worker:x@y/s3cr3t@mq.example":               "[masked]",
		"amqp://worker:1/s3cr3t@mq.example":                 "[masked]",
		"amqp://worker:1?s3cr3t@mq.example":                 "[masked]",
		"amqp://worker:1#s3cr3t@mq.example":                 "[masked]",
		"amqp://worker:x/s3cr3t@mq.example":                 "[masked]",
		"amqp://worker:s3cr3t%zz@mq.example":                "[masked]",
		"worker:s3cr3t@mq.example":                          "[masked]",
		"s3cr3t@mq.example":                                 "[masked]",
		"localhost:5672":                                    "[masked]",
		"amqp://worker:s3cr3t@mq.example\x1b[2J":            "[masked]",
		"amqp://worker:s3cr3t@mq.example/\u202eprod":        "amqp://worker:xxxxx@mq.example/%E2%80%AEprod",
		"redis+sentinel://u:s3cr3t@a.example,b.example/m/0": "redis+sentinel://u:xxxxx@a.example,b.example/m/0",
	} {
		got := wire.MaskURL(in)
		if got != want {
			t.Errorf("MaskURL(%q)\n got %s\nwant %s", in, got, want)
		}
		if strings.Contains(got, "3cr3t") {
			t.Errorf("MaskURL(%q) leaks: %s", in, got)
		}
	}
}

func TestMaskHook(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"https://hooks.chat.example/services/T0/B0/s3cr3t": "https://hooks.chat.example/...",
		"http://u:s3cr3t@127.0.0.1:9000/hook?x=s3cr3t":     "http://127.0.0.1:9000/...",
		"http://127.0.0.1:9000/":                           "http://127.0.0.1:9000",
		"://s3cr3t":                                        "[masked]",
		"s3cr3t":                                           "[masked]",
	} {
		if got := wire.MaskHook(in); got != want {
			t.Errorf("MaskHook(%q) = %s, want %s", in, got, want)
		}
	}
}

// Whatever the parts are, the password is never shown.
func FuzzMaskURL(f *testing.F) {
	f.Add("amqp", "worker", "", "mq.example:5672", "/prod")
	f.Add("redis", "", "@/?#", "h", "/0?db=1")
	f.Add("https", "u", "1/", "h:1", "/x#y@z")
	f.Fuzz(func(t *testing.T, scheme, user, tail, host, path string) {
		const secret = "s3cr3tPassw0rd"
		for _, part := range []string{scheme, user, tail, host, path} {
			if strings.Contains(part, secret) {
				return
			}
		}
		u := url.URL{Scheme: "amqp", User: url.UserPassword(user, secret+tail), Host: host, Path: "/v"}
		for _, raw := range []string{
			u.String(),
			"amqp://" + url.PathEscape(user) + ":" + secret + tail + "@" + host + path,
			scheme + "://" + url.PathEscape(user) + ":" + tail + secret + "@h" + path,
		} {
			got := wire.MaskURL(raw)
			checkVisible(t, got)
			if strings.Contains(got, secret) {
				t.Errorf("%q shows its password: %q", raw, got)
			}
		}
	})
}
