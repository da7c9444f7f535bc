package execpilot

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Look finds the program that a command names: a name with a slash starts at dir, a
// plain one is looked for in path, a list as in PATH, and nowhere else. Its errors
// wrap fs.ErrNotExist, fs.ErrPermission or exec.ErrNotFound.
func Look(name, dir, path string) (string, error) {
	if strings.ContainsRune(name, '/') || filepath.IsAbs(name) {
		file := name
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		file, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		return file, runnable(file)
	}
	for _, at := range filepath.SplitList(path) {
		// An entry that is relative, or empty, would make what is run depend on
		// where the payload's files lie.
		if !filepath.IsAbs(at) {
			continue
		}
		if file := filepath.Join(at, name); runnable(file) == nil {
			return file, nil
		}
	}
	return "", exec.ErrNotFound
}

func runnable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return &fs.PathError{Op: "exec", Path: file, Err: fs.ErrPermission}
	}
	return nil
}
