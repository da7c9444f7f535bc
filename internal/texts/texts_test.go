package texts

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/testsvc"
)

func TestMain(m *testing.M) { testsvc.Main(m) }

const root = "../.."

// page is one Markdown file; name is its path from the root of the tree.
type page struct{ name, text string }

// pages reads the Markdown at the root and under docs.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	add := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page{filepath.ToSlash(name), string(b)})
	}
	top, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range top {
		add(p)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".md") {
			add(p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 5 {
		t.Fatalf("found %d pages: the tree has moved", len(all))
	}
	return all
}

func find(t *testing.T, name string) page {
	t.Helper()
	for _, p := range pages(t) {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("%s is not there", name)
	return page{}
}

// block is a fenced block: its language, its lines, and the line it starts on.
type block struct {
	lang  string
	lines []string
	line  int
}

// split gives a page's prose, with its fenced blocks blanked, and the blocks.
func (p page) split() (prose []string, blocks []block) {
	inside := false
	for i, line := range strings.Split(p.text, "\n") {
		if lang, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "```"); ok {
			if inside = !inside; inside {
				blocks = append(blocks, block{lang: strings.TrimSpace(lang), line: i + 2})
			}
			prose = append(prose, "")
			continue
		}
		if inside {
			b := &blocks[len(blocks)-1]
			b.lines = append(b.lines, line)
			line = ""
		}
		prose = append(prose, line)
	}
	return prose, blocks
}
