package charter

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

// BlockSeats is how many seats share a digest.
const BlockSeats = 1024

// Block is the digest of up to BlockSeats consecutive seats of a source.
type Block struct {
	Index int
	Seats int // how many of the block the source had
	Sum   string
}

// String writes the stored form, seats:sum.
func (b Block) String() string { return strconv.Itoa(b.Seats) + ":" + b.Sum }

// ParseBlock reads the stored form.
func ParseBlock(index int, s string) (Block, error) {
	n, sum, ok := strings.Cut(s, ":")
	seats, err := strconv.Atoi(n)
	if !ok || err != nil || seats < 1 || seats > BlockSeats || len(sum) != 32 {
		return Block{}, fmt.Errorf("digest %d: %q is not seats:sum", index, s)
	}
	return Block{Index: index, Seats: seats, Sum: sum}, nil
}

// Identity is what a seat is recognized by: its business id, or the hash of its
// payload where it has none.
func Identity(businessID string, payload []byte) string {
	if businessID != "" {
		return "b" + businessID
	}
	sum := sha256.Sum256(payload)
	return "p" + string(sum[:])
}

// Digester takes a source's seats one after the other.
type Digester struct {
	h     hash.Hash
	index int
	n     int
}

// NewDigester begins at seat 0.
func NewDigester() *Digester { return &Digester{h: sha256.New()} }

// Add takes the next seat and reports whether its block is full.
func (d *Digester) Add(identity string) (full bool) {
	if d.n == BlockSeats {
		d.h.Reset()
		d.index++
		d.n = 0
	}
	fmt.Fprintf(d.h, "%d:%s", len(identity), identity)
	d.n++
	return d.n == BlockSeats
}

// Block gives the digest of the block that the last seat belongs to, as far as it
// goes; false before the first seat.
func (d *Digester) Block() (Block, bool) {
	if d.n == 0 {
		return Block{}, false
	}
	return Block{Index: d.index, Seats: d.n, Sum: hex.EncodeToString(d.h.Sum(nil)[:16])}, true
}
