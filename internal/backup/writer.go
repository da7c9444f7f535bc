package backup

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// Version is the version of the file's format.
const Version = 1

// maxLine is the longest line that is read: the largest payload a transport
// carries, as base64, and its headers.
const maxLine = 192 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is a file's first line.
type Header struct {
	ID      string // of the file
	Queue   string // it was taken from
	TakenAt time.Time
}

type headerLine struct {
	Version int    `json:"traction_backup"`
	ID      string `json:"id"`
	Queue   text   `json:"queue"`
	TakenAt string `json:"taken_at"`
}

type recordLine struct {
	N       int             `json:"n"`
	Sum     string          `json:"crc32c"`
	Message json.RawMessage `json:"message"`
}

type trailerLine struct {
	End   bool   `json:"end"`
	Count int    `json:"count"`
	Sum   string `json:"sha256"`
}

// NewID makes an id for a file.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Writer writes a backup. It is not safe for use from several goroutines.
type Writer struct {
	w     *bufio.Writer
	sum   hash.Hash
	count int
	bytes int64
}

// NewWriter writes the header to w.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	out := &Writer{w: bufio.NewWriterSize(w, 1<<18), sum: sha256.New()}
	line, err := encode(headerLine{Version, h.ID, text(h.Queue), h.TakenAt.UTC().Format(time.RFC3339)})
	if err != nil {
		return nil, err
	}
	return out, out.line(line)
}

// Add writes one message.
func (w *Writer) Add(m wire.Message) error {
	mm, err := fromMessage(m)
	if err != nil {
		return fmt.Errorf("message %d, id %q: %w", w.count+1, wire.Visible(m.ID), err)
	}
	raw, err := encode(mm)
	if err != nil {
		return fmt.Errorf("message %d, id %q: %w", w.count+1, wire.Visible(m.ID), err)
	}
	var b bytes.Buffer
	b.Grow(len(raw) + 64)
	// By hand: a RawMessage would be copied and checked once more.
	fmt.Fprintf(&b, `{"n":%d,"crc32c":"%08x","message":`, w.count+1, crc32.Checksum(raw, castagnoli))
	b.Write(raw)
	b.WriteByte('}')
	if b.Len() > maxLine {
		return fmt.Errorf("message %d, id %q: %d bytes are more than a backup's line holds, %d", w.count+1, wire.Visible(m.ID), b.Len(), maxLine)
	}
	if err := w.line(b.Bytes()); err != nil {
		return err
	}
	w.count++
	return nil
}

// Count is how many messages were added.
func (w *Writer) Count() int { return w.count }

// Bytes is how long the file is so far.
func (w *Writer) Bytes() int64 { return w.bytes }

// Close writes the trailer. It does not close what it writes to.
func (w *Writer) Close() error {
	line, err := encode(trailerLine{true, w.count, hex.EncodeToString(w.sum.Sum(nil))})
	if err != nil {
		return err
	}
	if err := w.line(line); err != nil {
		return err
	}
	return w.w.Flush()
}

func (w *Writer) line(b []byte) error {
	for _, part := range [][]byte{b, {'\n'}} {
		w.sum.Write(part) // never fails
		n, err := w.w.Write(part)
		w.bytes += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
