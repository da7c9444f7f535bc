package settings

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/wire"
)

// File is the form of config.yaml: named contexts, and the one that is used when
// none is named.
type File struct {
	Current  string             `yaml:"current"` // default: none
	Contexts map[string]Context `yaml:"contexts"`
}

// Context is one installation. Every field is optional.
type Context struct {
	AMQP      string `yaml:"amqp"`
	Redis     string `yaml:"redis"`
	Namespace string `yaml:"namespace"`
	Actor     string `yaml:"actor"`
	ReadOnly  bool   `yaml:"read_only"` // refuse every change
}

// contextOf reads the file and gives the context that is named, else the current
// one. A missing file is fine as long as nobody asked for it.
func contextOf(name string, getenv func(string) string) (Context, string, error) {
	path, asked := getenv(EnvConfig), true
	if path == "" {
		asked = false
		home := getenv("HOME")
		if home == "" && name == "" {
			return Context{}, "", nil
		}
		path = filepath.Join(home, ".config", "traction", "config.yaml")
	}
	shown := wire.Visible(path)
	body, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !asked && name == "":
		return Context{}, "", nil
	case err != nil:
		return Context{}, "", exit.WithHint(exit.Usagef("read the contexts: %w", err),
			"write %s, or leave out --context and %s", shown, EnvConfig)
	}
	file, err := ParseFile(body)
	if err != nil {
		return Context{}, "", exit.WithHint(exit.Usagef("%s: %w", shown, err),
			"fix the file; its keys are current and contexts.<name>.{amqp,redis,namespace,actor,read_only}")
	}
	if name == "" {
		name = file.Current
	}
	if name == "" {
		return Context{}, "", nil
	}
	c, ok := file.Contexts[name]
	if !ok {
		return Context{}, "", exit.WithHint(exit.Usagef("context %q is not in %s", wire.Visible(name), shown),
			"known contexts: %s", known(file))
	}
	return c, name, nil
}

// ParseFile reads config.yaml. A key it does not know is an error with line and
// column: a misspelt namespace would act on the wrong installation. The error
// never quotes the file, which may hold passwords.
func ParseFile(body []byte) (File, error) {
	var f File
	err := yaml.NewDecoder(bytes.NewReader(body), yaml.Strict()).Decode(&f)
	if err != nil && !errors.Is(err, io.EOF) {
		text, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return File{}, errors.New(wire.Visible(wire.Mask(text)))
	}
	return f, nil
}

func known(f File) string {
	if len(f.Contexts) == 0 {
		return "none"
	}
	names := slices.Sorted(maps.Keys(f.Contexts))
	for i := range names {
		names[i] = wire.Visible(names[i])
	}
	return strings.Join(names, ", ")
}
