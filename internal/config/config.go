package config

import (
	"time"

	"github.com/traction-go/traction/internal/httppilot"
	"github.com/traction-go/traction/pkg/governor"
	"github.com/traction-go/traction/pkg/settle"
)

// Config is a configuration that was read and found whole. Zero fields take the
// governor's defaults.
type Config struct {
	Path      string // the file it came from
	AMQP      string
	Redis     string
	Namespace string
	Listen    string // host:port of health and metrics; "": none
	Tower     bool   // default true
	Grace     time.Duration
	Heartbeat time.Duration
	Webhook   string // where notifications go; "": to the log
	Runbook   string
	// TellObserved tells of what airports in mode observe would have stopped.
	TellObserved bool
	BatchSize    int       // of every batch, from TRACTION_BATCH_SIZE; 0: as each gate says
	Airports     []Airport // in the order of the file
}

// Airport is one governed dependency.
type Airport struct {
	ID            string
	Slots         governor.Slots
	Mode          governor.Mode
	Streaks       governor.Streaks
	Holds         settle.Policy
	MaxRetryAfter time.Duration
	Outcomes      httppilot.Outcomes
	Exit          map[int]settle.Outcome // exit statuses, for pilots that are processes
	Gates         []Gate                 // in the order of the file

	at position
}

// Gate is one work type on an airport.
type Gate struct {
	ID           string
	Workers      int
	Timeout      time.Duration
	OnStop       settle.OnStop
	DropRejected bool
	MaxPayload   int
	HTTP         HTTP
	Exec         *Exec // instead of HTTP; nil: none
	Adopt        *governor.Adoption
	Batch        *Batch // nil: each flight flies by itself

	at       position
	adoption adoption
}

// HTTP is the call that a gate's flights become.
type HTTP struct {
	Method  string
	URL     string
	Headers []httppilot.Header // in the order of the file
}

// Exec is the program that a gate's flights are given to.
type Exec struct {
	Command []string
	Dir     string // where it runs: the file's own directory
	Memory  int64  // its ceiling; 0: none
	Env     []Variable
}

// Spec gives what the governor takes.
func (x *Exec) Spec() governor.ExecSpec {
	s := governor.ExecSpec{Command: x.Command, Dir: x.Dir, Memory: x.Memory, Env: map[string]string{}}
	var late []Variable
	for _, v := range x.Env {
		if v.secret() {
			late = append(late, v)
			continue
		}
		s.Env[v.Name] = v.Value.Get()
	}
	if len(late) > 0 {
		s.LateEnv = func() map[string]string {
			env := map[string]string{}
			for _, v := range late {
				env[v.Name] = v.Value.Get()
			}
			return env
		}
	}
	return s
}

// secrets lists the credentials in the environment as they are now.
func (x *Exec) secrets() []string {
	var all []string
	for _, v := range x.Env {
		if v.secret() {
			all = append(all, v.Value.Get())
			all = append(all, v.Value.Files()...)
		}
	}
	return all
}

// timeout is the gate's, with its default.
func (g Gate) timeout() time.Duration {
	if g.Timeout == 0 {
		return governor.DefaultTimeout
	}
	return g.Timeout
}

// Longest is the longest timeout of any gate.
func (c *Config) Longest() time.Duration {
	longest := time.Duration(0)
	for _, a := range c.Airports {
		for _, g := range a.Gates {
			longest = max(longest, g.timeout())
		}
	}
	return longest
}

// drainMargin is what a drain is given beyond the longest call.
const drainMargin = 5 * time.Second

// Drain is how long a drain waits for flights in the air: grace, or the longest
// timeout and five seconds.
func (c *Config) Drain() time.Duration {
	if c.Grace > 0 {
		return c.Grace
	}
	return c.Longest() + drainMargin
}
