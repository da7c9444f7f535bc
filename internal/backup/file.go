package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrExists: there is a file of that name already.
var ErrExists = errors.New("exists already")

// File is a backup on its way. It has another name until Commit.
type File struct {
	*Writer
	f    *os.File
	path string
}

// Create begins a backup that will be path. The file is for its owner alone: it
// holds payloads. ErrExists: a backup is never overwritten.
func Create(path string, h Header) (*File, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*") // 0600
	if err != nil {
		return nil, err
	}
	w, err := NewWriter(f, h)
	if err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return nil, err
	}
	return &File{Writer: w, f: f, path: path}, nil
}

// Commit writes the trailer and gives the file its name, both on the disk when it
// returns. After an error there is no file of that name, unless somebody else made
// one meanwhile (ErrExists).
func (b *File) Commit() error {
	err := b.Writer.Close()
	if err == nil {
		err = b.f.Sync()
	}
	if err := errors.Join(err, b.f.Close()); err != nil {
		return errors.Join(err, os.Remove(b.f.Name()))
	}
	// A link refuses to replace what is there; a rename does not.
	err = os.Link(b.f.Name(), b.path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return errors.Join(fmt.Errorf("%s: %w", b.path, ErrExists), os.Remove(b.f.Name()))
	case err != nil: // a file system without links
		if err := os.Rename(b.f.Name(), b.path); err != nil {
			return errors.Join(err, os.Remove(b.f.Name()))
		}
	default:
		if err := os.Remove(b.f.Name()); err != nil {
			return err
		}
	}
	return syncDir(filepath.Dir(b.path))
}

// Abandon removes what was written.
func (b *File) Abandon() error {
	return errors.Join(b.f.Close(), os.Remove(b.f.Name()))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	// Some file systems cannot sync a directory; the file itself is on the disk.
	_ = d.Sync()
	return d.Close()
}
