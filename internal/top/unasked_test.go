//go:build linux

package top

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens one that answers nothing: what is written to it, and its other end.
func terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return screen, tty
}

// A program that imports the view asks its terminal nothing when it starts, and has its
// environment as it was. Its output would begin with the question.
func TestNothingIsAskedOfTheTerminal(t *testing.T) {
	screen, tty := terminal(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = []string{envFake + "=environment", "TERM=xterm-256color"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	// As a shell starts it: in the terminal's foreground.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, screen); err != nil && !errors.Is(err, syscall.EIO) { // EIO: nobody has it open any more
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%q\r\n", cmd.Env)
	if out.String() != want {
		t.Errorf("on the terminal: %q, want its environment: %q", out.String(), want)
	}
}
