//go:build linux

package execpilot_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/traction-go/traction/pkg/governor"
)

// The test binary is also the programs that no shell can be: os.Args[1] says which.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "eat":
			eat(os.Args[2])
			return
		case "lead":
			lead(os.Args[2])
			return
		case "fly":
			f := governor.Flight[[]byte]{}
			_ = governor.Exec(sh(`echo $$ > "$1"; exec sleep 300`, os.Args[2])).Fly(context.Background(), f)
			return
		}
	}
	goleak.VerifyTestMain(m)
}

// lead leaves for a group of its own, writes its process id to the file, and stays.
func lead(file string) {
	if err := syscall.Setpgid(0, 0); err != nil {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintln(f, os.Getpid())
	<-time.After(time.Minute)
}

// eat takes so many MiB of memory and keeps them, then reads its stdin to the end.
func eat(mib string) {
	n, _ := strconv.Atoi(mib)
	var kept [][]byte
	for range n {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 512 {
			b[i] = byte(i>>9) | 1
		}
		kept = append(kept, b)
	}
	_, _ = fmt.Fprintln(os.Stderr, "ate", len(kept))
	time.AfterFunc(5*time.Second, func() { os.Exit(9) })
	_, _ = os.Stdin.Read(make([]byte, 1))
	if len(kept) < n {
		os.Exit(1)
	}
	select {}
}
