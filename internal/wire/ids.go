package wire

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxBusinessID is the longest business id, in bytes: it travels as a short
// string in headers and as a member of the store's sets.
const MaxBusinessID = 255

// MaxIdempotency is the longest idempotency key in a header, in bytes.
const MaxIdempotency = 255

// CheckFlightID refuses an id that cannot name a flight: 1 to 255 bytes of
// visible ASCII without a space or comma. Traction makes UUIDv7s; governor.FlightID
// lets a caller bring its own.
func CheckFlightID(id string) error {
	if id == "" {
		return malformed("message_id", "a flight needs an id")
	}
	if len(id) > 255 {
		return malformed("message_id", "%d bytes, at most 255", len(id))
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c >= 0x7f || c == ',' {
			return malformed("message_id", "want visible ASCII without spaces or commas")
		}
	}
	return nil
}

// CheckBusinessID refuses an id that cannot travel: over 255 bytes, or not UTF-8.
func CheckBusinessID(id string) error {
	if len(id) > MaxBusinessID {
		return fmt.Errorf("business id: %d bytes, at most %d", len(id), MaxBusinessID)
	}
	if !utf8.ValidString(id) {
		return errors.New("business id: not valid UTF-8")
	}
	return nil
}
