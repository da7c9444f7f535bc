package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/traction-go/traction/internal/wire"
)

// The classes of errors of a Progress.
var (
	// ErrElsewhere: what it notes is of another file, or went to another queue.
	ErrElsewhere = errors.New("restored elsewhere")
	// ErrBusy: another process is restoring the same file.
	ErrBusy = errors.New("being restored by another process")
)

// Suffix is what the name of a Progress' file ends with, behind the backup's.
const Suffix = ".restored"

// Progress notes which records of a file were restored. Its file is locked for as
// long as it is open. It is not safe for use from several goroutines.
type Progress struct {
	f    *os.File
	done []span // sorted, apart
}

// span is records, both ends included.
type span struct{ From, To int }

type progressHead struct {
	ID    string `json:"restored_backup"`
	Queue text   `json:"queue"`
}

type progressLine struct {
	Done [2]int `json:"done"`
}

// OpenProgress opens the note at path, or begins one, for the backup id restored to
// queue.
func OpenProgress(path, id, queue string) (*Progress, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	p := &Progress{f: f}
	if err := p.open(path, id, queue); err != nil {
		_ = f.Close()
		return nil, err
	}
	return p, nil
}

func (p *Progress) open(path, id, queue string) error {
	if err := lock(p.f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	all, err := io.ReadAll(p.f)
	if err != nil {
		return err
	}
	// A last line without its end was being written when the process died: it
	// counts for nothing and is overwritten.
	whole := bytes.LastIndexByte(all, '\n') + 1
	all = all[:whole]
	if err := p.f.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := p.f.Seek(int64(whole), io.SeekStart); err != nil {
		return err
	}
	if len(all) == 0 {
		return p.write(progressHead{id, text(queue)})
	}
	lines := bytes.Split(bytes.TrimSuffix(all, []byte{'\n'}), []byte{'\n'})
	var h progressHead
	if err := json.Unmarshal(lines[0], &h); err != nil || h.ID == "" {
		return fmt.Errorf("%s: line 1: %w", path, &CorruptError{0, "it is no note of a restore"})
	}
	if h.ID != id {
		return fmt.Errorf("%s is the note of another file: %w", path, ErrElsewhere)
	}
	if string(h.Queue) != queue {
		return fmt.Errorf("%s says that this file was restored to queue %q: %w", path, wire.Visible(string(h.Queue)), ErrElsewhere)
	}
	for i, l := range lines[1:] {
		var x progressLine
		if err := json.Unmarshal(l, &x); err != nil || x.Done[0] < 1 || x.Done[1] < x.Done[0] {
			return fmt.Errorf("%s: line %d: %w", path, i+2, &CorruptError{0, "it cannot be read"})
		}
		p.add(span{x.Done[0], x.Done[1]})
	}
	return nil
}

// Has reports whether record n was restored.
func (p *Progress) Has(n int) bool {
	i, _ := slices.BinarySearchFunc(p.done, n, func(s span, n int) int { return s.To - n })
	return i < len(p.done) && p.done[i].From <= n
}

// Count is how many records were restored.
func (p *Progress) Count() int {
	n := 0
	for _, s := range p.done {
		n += s.To - s.From + 1
	}
	return n
}

// Note adds records, which the broker has confirmed, and returns when the note is
// on the disk. The records are sorted.
func (p *Progress) Note(records []int) error {
	var spans []any
	for i := 0; i < len(records); {
		j := i
		for j+1 < len(records) && records[j+1] == records[j]+1 {
			j++
		}
		s := span{records[i], records[j]}
		p.add(s)
		spans = append(spans, progressLine{[2]int{s.From, s.To}})
		i = j + 1
	}
	if len(spans) == 0 {
		return nil
	}
	return p.write(spans...)
}

func (p *Progress) add(s span) {
	i := len(p.done)
	for i > 0 && p.done[i-1].To+1 >= s.From {
		i--
	}
	j := i
	for j < len(p.done) && p.done[j].From <= s.To+1 {
		s.From, s.To = min(s.From, p.done[j].From), max(s.To, p.done[j].To)
		j++
	}
	p.done = slices.Replace(p.done, i, j, s)
}

func (p *Progress) write(lines ...any) error {
	var b bytes.Buffer
	for _, l := range lines {
		raw, err := encode(l)
		if err != nil {
			return err
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	if _, err := p.f.Write(b.Bytes()); err != nil {
		return err
	}
	return p.f.Sync()
}

// Close ends the note and its lock.
func (p *Progress) Close() error { return p.f.Close() }
