package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
)

// write runs a verb under a root that has one other command.
func write(t *testing.T, args ...string) error {
	t.Helper()
	root := &cobra.Command{Use: "tractionctl", Short: "See and steer", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(New(clitest.New(t, "").Factory), &cobra.Command{Use: "fly AIRPORT", Short: "Fly one", Run: func(*cobra.Command, []string) {}})
	root.SetArgs(append([]string{"docs"}, args...))
	return root.Execute()
}

func TestAPageForEachCommand(t *testing.T) {
	for verb, pages := range map[string][]string{
		"man":      {"tractionctl.1", "tractionctl-fly.1", "tractionctl-docs.1", "tractionctl-docs-man.1", "tractionctl-docs-markdown.1"},
		"markdown": {"tractionctl.md", "tractionctl_fly.md", "tractionctl_docs.md", "tractionctl_docs_man.md", "tractionctl_docs_markdown.md"},
	} {
		dir := filepath.Join(t.TempDir(), "a", "new", "folder")
		if err := write(t, verb, dir); err != nil {
			t.Fatal(err)
		}
		var before [][]byte
		for _, p := range pages {
			b, err := os.ReadFile(filepath.Join(dir, p))
			if err != nil {
				t.Fatal(err)
			}
			before = append(before, b)
		}
		if !bytes.Contains(before[1], []byte("Fly one")) || bytes.Contains(before[1], []byte("spf13")) {
			t.Errorf("%s says\n%s", pages[1], before[1])
		}
		mine := filepath.Join(dir, "mine.txt")
		if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := write(t, verb, dir); err != nil {
			t.Fatal(err)
		}
		for i, p := range pages {
			if b, _ := os.ReadFile(filepath.Join(dir, p)); !bytes.Equal(b, before[i]) {
				t.Errorf("%s is another page the second time", p)
			}
		}
		if b, _ := os.ReadFile(mine); string(b) != "mine" {
			t.Error("it has touched a file that is not its own")
		}
	}
}

func TestNowhereToWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, code := range map[string]int{"": exit.Usage, file: exit.Usage, filepath.Join(file, "x"): exit.Usage} {
		if err := write(t, "man", dir); exit.Code(err) != code || dir != "" && !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v, want code %d", dir, err, code)
		}
	}
}
