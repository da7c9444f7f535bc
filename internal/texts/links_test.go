package texts

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("`[^`]*`")
	notSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinks follows every link inside the tree, to the heading it names. Links to
// other sites are left alone: a test must not depend on them.
func TestLinks(t *testing.T) {
	headings := map[string]map[string]bool{}
	all := pages(t)
	for _, p := range all {
		headings[p.name] = p.headings()
	}
	followed := 0
	for _, p := range all {
		prose, _ := p.split()
		for i, line := range prose {
			for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(line, "x"), -1) {
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				followed++
				path, anchor, _ := strings.Cut(m[1], "#")
				target := p.name
				if path != "" {
					target = filepath.ToSlash(filepath.Join(filepath.Dir(p.name), path))
				}
				if _, err := os.Stat(filepath.Join(root, target)); err != nil {
					t.Errorf("%s:%d: %s leads nowhere", p.name, i+1, m[1])
					continue
				}
				if known := headings[target]; anchor != "" && known != nil && !known[anchor] {
					t.Errorf("%s:%d: %s: %s has no such heading", p.name, i+1, m[1], target)
				}
			}
		}
	}
	if followed < 20 {
		t.Errorf("followed %d links: the pattern finds too few", followed)
	}
}

// headings gives the anchors a page has, made as GitHub makes them.
func (p page) headings() map[string]bool {
	all := map[string]bool{}
	prose, _ := p.split()
	for _, line := range prose {
		text, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		slug := notSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(text)), "")
		all[strings.ReplaceAll(slug, " ", "-")] = true
	}
	return all
}
