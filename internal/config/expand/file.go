package expand

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxFile is the largest secret that is read, in bytes.
const maxFile = 64 << 10

// file is one file and what it held when it was last read.
type file struct {
	path string

	mu   sync.Mutex
	info os.FileInfo // of the content in text
	text string
}

func openFile(path, dir string) (*file, error) {
	if path == "" {
		return nil, errors.New("names no file: want ${file:path}")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	f := &file{path: path}
	text, info, err := f.read()
	if err != nil {
		return nil, err
	}
	f.text, f.info = text, info
	return f, nil
}

// get gives the content, read again when the file changed.
func (f *file) get() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil || same(info, f.info) {
		return f.text
	}
	if text, read, err := f.read(); err == nil {
		f.text, f.info = text, read
	}
	return f.text
}

func (f *file) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text
}

// same compares what a rewrite, a rename over it or a swapped symlink changes.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// read gives the content without the line end that editors and echo leave. The
// info is that of the open file, so that a change during the read is seen next time.
func (f *file) read() (string, os.FileInfo, error) {
	r, err := os.Open(f.path)
	if err != nil {
		return "", nil, reason(f.path, err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return "", nil, reason(f.path, err)
	}
	if !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("%s is not a regular file", f.path)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return "", nil, reason(f.path, err)
	}
	if len(b) > maxFile {
		return "", nil, fmt.Errorf("%s is larger than %d KiB: a secret is expected there", f.path, maxFile>>10)
	}
	text := strings.TrimRight(string(b), "\r\n")
	if text == "" {
		return "", nil, fmt.Errorf("%s is empty", f.path)
	}
	if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }); i >= 0 {
		return "", nil, fmt.Errorf("%s holds a control character or a second line: want one line of text", f.path)
	}
	return text, info, nil
}

// reason drops the operation and keeps the path once.
func reason(path string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("reading %s: %w", path, err)
}
