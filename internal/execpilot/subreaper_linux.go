package execpilot

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// prctlGetSubreaper reads whether orphans below this process become its children.
func prctlGetSubreaper(to *uintptr) error {
	var v int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&v)), 0, 0, 0)
	*to = uintptr(v)
	return err
}
