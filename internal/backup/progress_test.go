package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/traction-go/traction/internal/backup"
)

func progress(t *testing.T, path string) *backup.Progress {
	t.Helper()
	p, err := backup.OpenProgress(path, "id-1", "q")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func has(p *backup.Progress, upTo int) (out []int) {
	for n := 1; n <= upTo; n++ {
		if p.Has(n) {
			out = append(out, n)
		}
	}
	return out
}

func TestProgressIsRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.restored")
	p := progress(t, path)
	for _, note := range [][]int{{5, 6, 7}, {1, 2, 9}, {3}, {6, 7, 8}} {
		if err := p.Note(note); err != nil {
			t.Fatal(err)
		}
	}
	want := []int{1, 2, 3, 5, 6, 7, 8, 9}
	if got := has(p, 12); !slices.Equal(got, want) || p.Count() != len(want) {
		t.Fatalf("%v, %d", got, p.Count())
	}
	if _, err := backup.OpenProgress(path, "id-1", "q"); !errors.Is(err, backup.ErrBusy) {
		t.Fatalf("a second restore at once: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = progress(t, path)
	if got := has(p, 12); !slices.Equal(got, want) {
		t.Fatalf("%v", got)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][2]string{{"id-2", "q"}, {"id-1", "r"}} {
		if _, err := backup.OpenProgress(path, other[0], other[1]); !errors.Is(err, backup.ErrElsewhere) {
			t.Errorf("%v: %v", other, err)
		}
	}
}

// A line that was being written when the process died counts for nothing.
func TestATornLineIsWrittenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.restored")
	p := progress(t, path)
	if err := p.Note([]int{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, `{"done":[3,40`...), 0o600); err != nil {
		t.Fatal(err)
	}
	p = progress(t, path)
	if got := has(p, 50); !slices.Equal(got, []int{1, 2}) {
		t.Fatalf("%v", got)
	}
	if err := p.Note([]int{3}); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = progress(t, path)
	if got := has(p, 50); !slices.Equal(got, []int{1, 2, 3}) {
		t.Fatalf("%v", got)
	}
	_ = p.Close()
	if err := os.WriteFile(path, append(whole, "rubbish\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.OpenProgress(path, "id-1", "q"); !errors.Is(err, backup.ErrCorrupt) {
		t.Fatalf("%v", err)
	}
}
