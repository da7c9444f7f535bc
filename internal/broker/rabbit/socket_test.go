package rabbit

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSocketKeepsOrder(t *testing.T) {
	here, there := net.Pipe()
	s := newSocket(here, time.Minute)
	defer s.Close()
	const n = 10000
	go func() {
		for i := range n {
			if _, err := fmt.Fprintln(s, i); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	lines := bufio.NewScanner(there)
	for i := range n {
		if !lines.Scan() || lines.Text() != fmt.Sprint(i) {
			t.Fatalf("line %d is %q", i, lines.Text())
		}
	}
}

// A peer that takes nothing: writers wait only when much is unsent, and all fail
// after the timeout.
func TestSocketGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		s := newSocket(here, 5*time.Second)
		defer s.Close()
		began := time.Now()
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wg.Go(func() {
				for range 10 {
					if _, err := s.Write(make([]byte, maxUnsent/2)); err != nil {
						errs[i] = err
						return
					}
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("gave up after %s", took)
		}
		for _, err := range errs {
			if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, net.ErrClosed) {
				t.Errorf("%v", err)
			}
		}
		if _, err := s.Write([]byte("x")); err == nil {
			t.Error("wrote after giving up")
		}
	})
}

func TestSocketCloseWakesWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		s := newSocket(here, time.Hour)
		failed := make(chan error)
		go func() {
			for {
				if _, err := s.Write(make([]byte, maxUnsent)); err != nil {
					failed <- err
					return
				}
			}
		}()
		synctest.Wait()
		s.Close()
		if err := <-failed; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestBackoff(t *testing.T) {
	b := backoff{first: time.Second, most: 10 * time.Second}
	for _, most := range []time.Duration{1, 2, 4, 8, 10, 10} {
		most *= time.Second
		if d := b.next(); d < most/2 || d > most {
			t.Errorf("%s, want %s to %s", d, most/2, most)
		}
	}
	for range 100 { // never overflows
		if d := b.next(); d < 5*time.Second || d > 10*time.Second {
			t.Fatal(d)
		}
	}
	b.reset()
	if d := b.next(); d > time.Second {
		t.Error(d)
	}
}
