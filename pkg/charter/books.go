package charter

import "fmt"

// Books counts a charter's seats by state.
type Books struct {
	Expected   int
	Dispatched int // on their way
	Landed     int
	Rejected   int
	Skipped    int
	Parked     int
	Discarded  int
}

// Ended is the number of seats in the balance.
func (b Books) Ended() int {
	return b.Landed + b.Rejected + b.Skipped + b.Parked + b.Discarded
}

// Pending is the number of seats of which something is still expected: those on
// their way, and those not dispatched.
func (b Books) Pending() int { return b.Expected - b.Ended() }

// Complete reports whether the books balance:
// landed + rejected + skipped + parked + discarded == expected.
func (b Books) Complete() bool { return b.Ended() == b.Expected }

// Check says what is wrong with books that cannot be: a negative count, or more
// seats than expected.
func (b Books) Check() error {
	for _, n := range []int{b.Expected, b.Dispatched, b.Landed, b.Rejected, b.Skipped, b.Parked, b.Discarded} {
		if n < 0 {
			return fmt.Errorf("books: a negative count: %+v", b)
		}
	}
	if b.Ended()+b.Dispatched > b.Expected {
		return fmt.Errorf("books: more seats than the %d expected: %+v", b.Expected, b)
	}
	return nil
}

// Count makes the books of seats.
func Count(expected int, seats []State) Books {
	b := Books{Expected: expected}
	for _, s := range seats {
		switch s {
		case Dispatched:
			b.Dispatched++
		case Landed:
			b.Landed++
		case Rejected:
			b.Rejected++
		case Skipped:
			b.Skipped++
		case Parked:
			b.Parked++
		case Discarded:
			b.Discarded++
		}
	}
	return b
}

// MaxExpected is the largest run: ten million seats are five megabytes of bits.
const MaxExpected = 10_000_000

// At reads a seat's state from the packed form: four bits a seat, the lower four
// of a byte first. A seat beyond the end is Empty.
func At(packed []byte, seat int) State {
	if seat < 0 || seat/2 >= len(packed) {
		return Empty
	}
	b := packed[seat/2]
	if seat%2 == 1 {
		b >>= 4
	}
	return State(b & 0x0f)
}
