package management_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/management"
)

func TestQueues(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "ops" || password != "p@ss":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.EscapedPath() != "/api/queues/a%2Fb" || r.URL.Query().Get("name") != "tr.":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Get("page") == "1":
			fmt.Fprint(w, `{"page_count":2,"items":[{"name":"xtr.a"},{"name":"tr.a","type":"quorum","arguments":{"x-delivery-limit":1000000},
				"policy":"ttl","operator_policy":"cap","effective_policy_definition":{"message-ttl":60000},"messages_ready":7}]}`)
		default:
			fmt.Fprint(w, `{"page_count":2,"items":[{"name":"tr.b","arguments":[],"policy":null,"effective_policy_definition":[]}]}`)
		}
	}))
	defer s.Close()
	c, err := management.New("amqp://ops:p%40ss@broker/a%2Fb", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	qs, err := c.Queues(t.Context(), "tr.")
	if err != nil || len(qs) != 2 || qs[0].Policy != "ttl, cap" || qs[0].Ready != 7 || qs[1].Name != "tr.b" {
		t.Fatalf("%v %+v", err, qs)
	}
	if n, ok := management.Number(qs[0].Effective, "message-ttl"); n != 60000 || !ok {
		t.Errorf("%d %v", n, ok)
	}
	if n, ok := management.Number(qs[0].Arguments, "x-delivery-limit"); n != 1000000 || !ok {
		t.Errorf("%d %v", n, ok)
	}
	if _, ok := management.Number(qs[1].Effective, "message-ttl"); ok {
		t.Error("a policy out of nothing")
	}
	other, err := management.New("amqp://ops:secret@broker/", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Queues(t.Context(), "tr."); !errors.Is(err, management.ErrNoAnswer) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	s.Close()
	if _, err := c.Queues(t.Context(), "tr."); !errors.Is(err, management.ErrNoAnswer) || strings.Contains(err.Error(), "p@ss") {
		t.Errorf("%v", err)
	}
}

func TestTheUsualPort(t *testing.T) {
	for in, want := range map[string]string{"amqp://h": "http://h:15672", "amqps://h:5671/v": "https://h:15671", "amqp://[::1]:5672": "http://[::1]:15672"} {
		c, err := management.New(in, "", nil)
		if err != nil || c.Base() != want {
			t.Errorf("%s: %v %v", in, c, err)
		}
	}
	for _, bad := range []string{"", "ftp://x", "15672"} {
		if bad == "" {
			continue
		}
		if _, err := management.New("amqp://h", bad, nil); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if _, err := management.New("http://u:secret@h", "", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
