package governor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

func TestDefaultReporterReadsPrograms(t *testing.T) {
	for _, c := range []struct {
		err  error
		want settle.Outcome
	}{
		{&governor.ExitError{Code: 65}, settle.FlightFault},
		{fmt.Errorf("syncing: %w", &governor.ExitError{Code: 77}), settle.AirportFault},
		{&governor.ExitError{Code: 1}, settle.Internal},
		{&governor.StoppedError{Err: context.Canceled}, settle.Transient},
		{&governor.StoppedError{Err: context.DeadlineExceeded}, settle.Transient},
		{&governor.DeathError{Why: "signal: killed"}, settle.Internal},
		{&governor.StartError{Command: "x", Err: syscall.ENOENT}, settle.Internal},
		{&governor.StartError{Command: "x", Err: syscall.EAGAIN}, settle.Transient},
		{&governor.StartError{Command: "x", Err: syscall.ETXTBSY}, settle.Transient},
	} {
		if r := governor.DefaultReporter(t.Context(), governor.Meta{}, c.err); r.Outcome != c.want || r.Err != c.err {
			t.Errorf("%v: %v, want %v", c.err, r.Outcome, c.want)
		}
	}
}

// Every errno has the methods of a network error.
func TestASystemsErrorIsNoNetworkError(t *testing.T) {
	_, gone := os.Open("/nowhere/at/all")
	for _, c := range []struct {
		err  error
		want settle.Outcome
	}{
		{gone, settle.Internal},
		{syscall.EINVAL, settle.Internal},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, settle.Internal},
		{syscall.ETIMEDOUT, settle.Transient},
		{os.NewSyscallError("read", syscall.ECONNRESET), settle.Transient},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}, settle.Transient},
		{&net.DNSError{Err: "no such host"}, settle.Transient},
	} {
		if r := governor.DefaultReporter(t.Context(), governor.Meta{}, c.err); r.Outcome != c.want {
			t.Errorf("%v: %v, want %v", c.err, r.Outcome, c.want)
		}
	}
}

func TestExecSpecsAreChecked(t *testing.T) {
	for _, c := range []struct {
		spec governor.ExecSpec
		want string
	}{
		{governor.ExecSpec{}, "airport a, gate g: Command: is empty: want a program and its arguments"},
		{governor.ExecSpec{Command: []string{"x", "a\x00"}}, "airport a, gate g: Command: an argument holds a NUL, which no program can be given"},
		{governor.ExecSpec{Command: []string{"x"}, Memory: -1}, "airport a, gate g: Memory: -1: want a positive size"},
		{governor.ExecSpec{Command: []string{"x"}, Env: map[string]string{"TRACTION_KEY": "x"}}, "airport a, gate g: Env: TRACTION_KEY: names that start with TRACTION_ are set by the worker itself"},
		{governor.ExecSpec{Command: []string{"x"}, Env: map[string]string{"A": "x"}}, ""},
	} {
		err := governor.Airport{ID: "a", Gates: []governor.Gate{{ID: "g", Pilot: governor.Exec(c.spec)}}}.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want || !errors.Is(err, governor.ErrSpec)) {
			t.Errorf("%+v: %v, want %s", c.spec, err, c.want)
		}
	}
}

// A program flies the flights: its exit code is the outcome, the end of its stderr
// the evidence. It sees the flight and nothing of the worker's environment.
func ExampleExec() {
	pilot := governor.Exec(governor.ExecSpec{
		Command: []string{"/bin/sh", "-c", `read name; echo "$TRACTION_BUSINESS_ID: no such contact as $name" >&2; exit 65`},
		Env:     map[string]string{"CRM": "https://crm.example"},
	})
	meta := governor.Meta{ID: "f-1", BusinessID: "contact-7"}
	err := pilot.Fly(context.Background(), governor.Flight[[]byte]{Meta: meta, Payload: []byte("Ann\n")})
	fmt.Println(err)
	fmt.Println(governor.DefaultReporter(context.Background(), meta, err).Outcome)
	// Output:
	// exit 65: contact-7: no such contact as Ann
	// FLIGHT_FAULT
}
