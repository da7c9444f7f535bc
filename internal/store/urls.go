package store

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/traction-go/traction/internal/wire"
)

// CheckURLs refuses what Open would refuse. It asks nobody, not even for an address,
// and its errors hold no password.
func CheckURLs(urls []string) error {
	for _, raw := range urls {
		_, rest := cutMaster(raw)
		if _, err := redis.ParseURL(rest); err != nil {
			return fmt.Errorf("%s: %w", wire.MaskURL(raw), maskedErr(err, raw))
		}
	}
	return nil
}
