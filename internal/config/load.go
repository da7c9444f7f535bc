package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/traction-go/traction/internal/config/expand"
	"github.com/traction-go/traction/internal/wire"
	"github.com/traction-go/traction/pkg/governor"
)

// maxFile is the largest configuration that is read: a thousand airports take a
// tenth of it.
const maxFile = 4 << 20

// Load reads the file at path. env reads the environment, as os.LookupEnv does.
// Relative paths of secrets start at the file's own directory. Its errors are
// ErrConfig.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unread(path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, unread(path, err)
	}
	return Parse(path, text, expand.Source{Env: env, Dir: filepath.Dir(path)})
}

func unread(path string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return Problems{{File: path, Why: fmt.Sprintf("cannot be read: %v", err)}}
}

// Parse reads a configuration from text; path names it in errors.
func Parse(path string, text []byte, from expand.Source) (*Config, error) {
	if len(text) > maxFile {
		return nil, Problems{{File: path, Why: fmt.Sprintf("is larger than %d MiB", maxFile>>20)}}
	}
	root, err := parse(path, text)
	if err != nil {
		return nil, err
	}
	d := &decoder{file: path, from: from, anchors: map[string]ast.Node{}}
	c := d.config(root)
	c.Path = path
	d.batchSize(c)
	if err := d.problems.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// BatchSizeVariable replaces the size of every batch of a process; 1 turns batching
// off without a change of the file.
const BatchSizeVariable = "TRACTION_BATCH_SIZE"

func (d *decoder) batchSize(c *Config) {
	if d.from.Env == nil {
		return
	}
	text, ok := d.from.Env(BatchSizeVariable)
	if !ok || text == "" {
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > governor.MaxBatch {
		d.problems = append(d.problems, &Problem{File: d.file, Path: BatchSizeVariable,
			Why: fmt.Sprintf("%q in the environment: want 1 to %d, or take it away", wire.Visible(text), governor.MaxBatch)})
		return
	}
	c.BatchSize = n
}

// parse gives the root of the one document in text.
func parse(path string, text []byte) (root ast.Node, err error) {
	// The parser is not ours, and a worker must not die of a typing error.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, Problems{{File: path, Why: "cannot be read as YAML"}}
		}
	}()
	if err := flowDepth(path, text); err != nil {
		return nil, err
	}
	// Keys that are there twice are told with their path, by the decoder.
	f, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p := &Problem{File: path, Why: wire.Visible(err.Error())}
		var ye yaml.Error
		if errors.As(err, &ye) {
			p.Why = "is not YAML: " + wire.Visible(ye.GetMessage())
			if tk := ye.GetToken(); tk != nil && tk.Position != nil {
				p.Line, p.Col = tk.Position.Line, tk.Position.Column
			}
		}
		return nil, Problems{p}
	}
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			p := at(doc.Body)
			return nil, Problems{{File: path, Line: p.line, Col: p.col, Why: "a second document: want one"}}
		}
		root = doc.Body
	}
	if root == nil {
		return nil, Problems{{File: path, Why: "is empty: want amqp, redis and airports"}}
	}
	return root, nil
}

// maxDepth is how deep brackets may nest; the configuration's own go to five. The
// parser recurses, and a stack that is used up cannot be recovered.
const maxDepth = 100

func flowDepth(path string, text []byte) error {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxDepth {
			return Problems{{File: path, Why: fmt.Sprintf("is not YAML: more than %d open brackets", maxDepth)}}
		}
	}
	return nil
}

func at(n ast.Node) position {
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		// A mapping's own token is its first colon; its start is its first key's.
		if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
			return at(m.Values[0].Key)
		}
		return position{tk.Position.Line, tk.Position.Column}
	}
	return position{}
}
