package config

import (
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/execpilot"
	"github.com/traction-go/traction/internal/httppilot"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// services reads one or several URLs of a broker or a store. check gives what the
// client would say of them when it connects, without a password.
func (v value) services(check func(urls []string) error, schemes ...string) string {
	want := "a URL such as " + schemes[0] + "://localhost"
	s, _, ok := v.text(want)
	if !ok {
		return ""
	}
	var all []string
	for one := range strings.SplitSeq(s, ",") {
		all = append(all, strings.TrimSpace(one))
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" && u.Path == "" || !slices.Contains(schemes, u.Scheme) {
			v.bad("is no such URL: want %s://..., several separated by commas", strings.Join(schemes, ":// or "))
			return ""
		}
	}
	if err := check(all); err != nil {
		v.bad("%s", wire.Visible(err.Error()))
		return ""
	}
	return s
}

func (v value) url() string {
	s, _, ok := v.text("a URL")
	if !ok {
		return ""
	}
	if _, err := httppilot.ParseURL(s); err != nil {
		v.bad("%v", err)
	}
	return s
}

func (v value) namespace() string {
	s, quoted, ok := v.text("a name such as tr")
	if !ok {
		return ""
	}
	if _, err := wire.ParseNamespace(s); err != nil {
		v.bad("%s: want 1 to 32 characters of a-z 0-9 -", quoted)
	}
	return s
}

func (v value) listen() string {
	const want = "an address such as 127.0.0.1:8077"
	s, quoted, ok := v.text(want)
	if !ok {
		return ""
	}
	_, port, err := net.SplitHostPort(s)
	if n, nerr := strconv.Atoi(port); err != nil || nerr != nil || n < 0 || n > math.MaxUint16 {
		v.bad("%s: want %s", quoted, want)
	}
	return s
}

// slots reads a rate such as 20/1s.
func (v value) slots() governor.Slots {
	const want = "slots and their window, such as 20/1s"
	s, quoted, ok := v.text(want)
	if !ok {
		return governor.Slots{}
	}
	count, window, two := strings.Cut(s, "/")
	n, errN := strconv.Atoi(strings.TrimSpace(count))
	per, errPer := time.ParseDuration(strings.TrimSpace(window))
	switch {
	case !two || errN != nil || errPer != nil:
		v.bad("%s: want %s", quoted, want)
	case n < 1 || n > maxSlots:
		v.bad("%s: want 1 to %d slots; leave slots out for no limit", quoted, maxSlots)
	case per < time.Millisecond || per > day:
		v.bad("%s: want a window of 1ms to 24h", quoted)
	default:
		return governor.Slots{N: n, Per: per}
	}
	return governor.Slots{}
}

// size reads the size of a payload.
func (v value) size() int { return int(v.bytes(1, 128<<20)) }

// bytes reads a number of bytes such as 1MiB.
func (v value) bytes(low, high int64) int64 {
	const want = "a size such as 512KiB or 1MiB"
	s, quoted, ok := v.text(want)
	if !ok {
		return 0
	}
	unit := int64(1)
	for suffix, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, n
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	switch {
	case err != nil || n < 1 || n > high/unit:
		v.bad("%s: want %s, %s at most", quoted, want, execpilot.SizeText(high))
		return 0
	case n*unit < low:
		v.bad("%s: want %s, %s at least", quoted, want, execpilot.SizeText(low))
		return 0
	}
	return n * unit
}
