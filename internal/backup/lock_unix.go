//go:build unix

package backup

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps a second process out. It ends with the process that has it.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOSYS) {
		return nil // a file system without locks: two at once restore some records twice
	}
	return err
}
