package governor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/traction-go/traction/pkg/governor"
)

// What a vendor's client looks like.
type (
	acmeClient struct{}
	acmeRate   struct{ After time.Duration }
	person     struct {
		ID    string `json:"id"`
		Email string `json:"email"`
	}
)

var errAcmeAuth = errors.New("acme: 401 token expired")

func (e *acmeRate) Error() string { return "acme: 429 slow down" }

func (c *acmeClient) Upsert(ctx context.Context, path, key string, p person) error { return nil }

func (c *acmeClient) SyncCompany(ctx context.Context, f governor.Flight[[]byte]) error { return nil }

// acmeReport is the only containment logic of the worker. It sees nil errors too.
func acmeReport(ctx context.Context, f governor.Meta, err error) governor.Report {
	var rate *acmeRate
	switch {
	case errors.Is(err, errAcmeAuth):
		return governor.AirportFault(err)
	case errors.As(err, &rate):
		return governor.RateLimit(err, rate.After)
	}
	return governor.DefaultReporter(ctx, f, err)
}

// acme declares the airport: one quota, one credential, two kinds of work.
func acme(api *acmeClient) governor.Airport {
	return governor.Airport{
		ID:    "crm:acme",
		Slots: governor.Slots{N: 20, Per: time.Second},
		Gates: []governor.Gate{
			{
				ID: "contact-sync", Workers: 4, Timeout: 10 * time.Second,
				Pilot: governor.JSON(func(ctx context.Context, f governor.Flight[person]) error {
					return api.Upsert(ctx, "/contacts", f.BusinessID, f.Payload)
				}),
			},
			{ID: "company-sync", Pilot: governor.PilotFunc(api.SyncCompany)}, // the raw payload
		},
		Reporter: acmeReport,
	}
}

// A worker: it flies until it is told to stop, then drains.
func ExampleGovernor_Run() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	gov, err := governor.Open(ctx, governor.Config{AMQP: os.Getenv("AMQP_URL"), Redis: os.Getenv("REDIS_URL")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	err = gov.Run(ctx, acme(&acmeClient{})) // nil after a drain
	fmt.Fprintln(os.Stderr, errors.Join(err, gov.Close(context.WithoutCancel(ctx))))
}

// A producer, such as a request handler. It needs only the broker.
func ExampleGovernor_Dispatch() {
	var gov *governor.Governor // of governor.Open
	http.HandleFunc("POST /contacts", func(w http.ResponseWriter, r *http.Request) {
		var p person
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id, err := gov.Dispatch(r.Context(), "crm:acme/contact-sync", p, governor.BusinessID(p.ID))
		switch {
		case errors.Is(err, governor.ErrNotFound):
			http.Error(w, "no worker has declared the gate yet", http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		default:
			w.Header().Set("Flight", id)
			w.WriteHeader(http.StatusAccepted)
		}
	})
}

// An outbox relay sends the same row again after a crash. Its own id makes the
// second one the same flight, with the same idempotency key at the vendor.
func ExampleFlightID() {
	relay := func(ctx context.Context, gov *governor.Governor, rowID string, p person) error {
		_, err := gov.Dispatch(ctx, "crm:acme/contact-sync", p, governor.FlightID("outbox-"+rowID), governor.BusinessID(p.ID))
		return err
	}
	_ = relay
}

func ExampleReporter() {
	ctx := context.Background()
	for _, err := range []error{
		nil,
		fmt.Errorf("upsert: %w", errAcmeAuth),
		&acmeRate{After: 20 * time.Second},
		context.DeadlineExceeded,
		&governor.StatusError{Code: 422},
		errors.New("index out of range"),
	} {
		r := acmeReport(ctx, governor.Meta{}, err)
		fmt.Println(r.Outcome, r.After)
	}
	// Output:
	// LANDED 0s
	// AIRPORT_FAULT 0s
	// RATE_LIMIT 20s
	// TRANSIENT 0s
	// FLIGHT_FAULT 0s
	// INTERNAL 0s
}

// A declaration is checked before anything is connected.
func ExampleAirport_Validate() {
	a := acme(&acmeClient{})
	fmt.Println(a.Validate())
	a.Gates[1].ID = "company/sync"
	err := a.Validate()
	fmt.Println(errors.Is(err, governor.ErrSpec))
	var spec *governor.SpecError
	if errors.As(err, &spec) {
		fmt.Println(spec.Field)
	}
	// Output:
	// <nil>
	// true
	// airport crm:acme: Gates.ID
}
