package config

import (
	"testing"

	"github.com/traction-go/traction/internal/config/expand"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

const adopting = `
amqp: amqp://h
redis: redis://h
airports:
  bank:acme:
    gates:
      events:
        http: {url: 'http://h'}
        adopt: {queue: incoming.queue, business_id: /payment/id, route: {by: /type, gates: {settled: events, 7: seven}, default: other}}
      other: {http: {url: 'http://h'}}
      seven:
        http: {url: 'http://h'}
        on_stop: park
        adopt: {queue: more.queue}
`

func adopted(t *testing.T, text string) ([]governor.Airport, error) {
	t.Helper()
	c, err := Parse("w.yaml", []byte(text), expand.Source{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	airports, closes, err := c.Declare()
	if err == nil {
		closes()
	}
	return airports, err
}

func TestAdopt(t *testing.T) {
	airports, err := adopted(t, adopting)
	if err != nil {
		t.Fatal(err)
	}
	g := airports[0].Gates
	same(t, "adopt", g[0].Adopt, &governor.Adoption{Queue: "incoming.queue", BusinessID: "/payment/id",
		Route: &governor.Route{By: "/type", Gates: map[string]string{"settled": "events", "7": "seven"}, Default: "other"}})
	same(t, "no adopt", g[1].Adopt, (*governor.Adoption)(nil))
	same(t, "on_stop by default", g[0].OnStop, settle.StayOnStop)
	same(t, "parks as it says", g[2].Adopt, &governor.Adoption{Queue: "more.queue", Park: true})
	same(t, "on_stop", g[2].OnStop, settle.ParkOnStop)
}
