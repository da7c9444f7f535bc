//go:build unix

package testsvc_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/testsvc"
)

// TestDyingTestBinary is what TestServersEndWithTheTestBinary runs and kills.
func TestDyingTestBinary(t *testing.T) {
	if os.Getenv("TESTSVC_DIE") == "" {
		return // no test of its own
	}
	store := testsvc.Redis(t)
	os.Stdout.WriteString("store " + store.Addr + "\n")
	select {} // until the parent kills this process
}

func TestServersEndWithTheTestBinary(t *testing.T) {
	testsvc.Need(t)
	tmp := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDyingTestBinary$")
	cmd.Env = append(os.Environ(), "TESTSVC_DIE=1", "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	for lines := bufio.NewScanner(out); addr == "" && lines.Scan(); {
		addr, _ = strings.CutPrefix(lines.Text(), "store ")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
	if addr == "" {
		t.Fatal("the store did not start")
	}
	testsvc.Until(t, 30*time.Second, "the store to end", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	testsvc.Until(t, 30*time.Second, "its folder to be removed", func() bool {
		left, err := os.ReadDir(tmp)
		return err == nil && len(left) == 0
	})
}
