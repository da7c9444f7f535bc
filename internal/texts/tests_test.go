package texts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)\(`)
)

// TestNamedTestsExist looks up every test that a page names.
func TestNamedTestsExist(t *testing.T) {
	there := map[string]bool{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		b, err := os.ReadFile(p)
		for _, m := range testFunc.FindAllSubmatch(b, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, p := range pages(t) {
		for _, m := range namedTest.FindAllStringSubmatch(p.text, -1) {
			if named++; !there[m[1]] {
				t.Errorf("%s names %s, and there is no such test", p.name, m[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("found %d names of tests: the pattern finds too few", named)
	}
}
