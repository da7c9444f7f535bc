package governor_test

import (
	"testing"

	"github.com/traction-go/traction/pkg/governor"
)

// Payloads are twins where the values are the same, and nowhere that cannot be told.
func TestPointerKey(t *testing.T) {
	key, err := governor.PointerKey("/id", "/at")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := key([]byte(`{"id":"p-é","at":1,"n":"\ud800"}`)), key([]byte(`{"at":1,"id":"p-\u00e9"}`)); a == "" || a != b {
		t.Errorf("%q and %q: want one key", a, b)
	}
	for _, body := range []string{"", "no JSON", `{"n":1}`, "{\"id\":\"a\xff\"}", `{"id":"\ud800"}`, `{"id":{"x":["\udfff"]}}`} {
		if k := key([]byte(body)); k != "" {
			t.Errorf("%q has key %q: want no twin", body, k)
		}
	}
}
