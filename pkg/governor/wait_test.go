package governor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestOutliveEndsAfterItsContextAndNotWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		out, done := outlive(ctx, 10*time.Second)
		defer done()
		if !sleep(out, time.Hour) {
			t.Fatal("it ended while its context lived")
		}
		cancel()
		if !sleep(out, 10*time.Second-time.Millisecond) {
			t.Fatal("it ended with its context")
		}
		if sleep(out, time.Second) {
			t.Fatal("it has no bound")
		}
		// One that is done with leaves nothing behind, which synctest would see.
		out, done = outlive(ctx, time.Hour)
		done()
		if out.Err() == nil {
			t.Fatal("it goes on after it is done with")
		}
	})
}
