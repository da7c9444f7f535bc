package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"time"

	"github.com/traction-go/traction/internal/wire"
)

// ErrCorrupt is the class of a file that is no whole backup.
var ErrCorrupt = errors.New("not a whole backup")

// CorruptError says where a file is damaged. It wraps ErrCorrupt.
type CorruptError struct {
	Record int // the number of the damaged record; 0: the header, or the file as a whole
	Why    string
}

func (e *CorruptError) Error() string {
	if e.Record == 0 {
		return e.Why
	}
	return fmt.Sprintf("record %d: %s", e.Record, e.Why)
}

// Unwrap makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// Reader reads a backup and checks it as it goes. Only io.EOF says that the whole
// file was good.
type Reader struct {
	r      *bufio.Reader
	sum    hash.Hash
	header Header
	count  int
	err    error
}

// NewReader reads the header from r.
func NewReader(r io.Reader) (*Reader, error) {
	in := &Reader{r: bufio.NewReaderSize(r, 1<<18), sum: sha256.New()}
	line, err := in.line()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = in.corrupt("the file is empty or has no whole first line: it is no backup")
		}
		return nil, err
	}
	var h headerLine
	if err := json.Unmarshal(line, &h); err != nil || h.Version < 1 || h.ID == "" {
		return nil, in.corrupt("its first line is not a backup's header")
	}
	if h.Version != Version {
		return nil, in.corrupt("it has version %d, and this program reads version %d", h.Version, Version)
	}
	at, err := time.Parse(time.RFC3339, h.TakenAt)
	if err != nil {
		return nil, in.corrupt("its header has no time that can be read")
	}
	if len(h.ID) > 64 || wire.CheckFlightID(h.ID) != nil {
		return nil, in.corrupt("its header has no id that can be read")
	}
	in.header = Header{ID: h.ID, Queue: string(h.Queue), TakenAt: at}
	return in, nil
}

// Header is the file's first line.
func (r *Reader) Header() Header { return r.header }

// Count is how many records were read.
func (r *Reader) Count() int { return r.count }

// Next gives the next message; io.EOF after a trailer that fits. Any other error
// stays.
func (r *Reader) Next() (wire.Message, error) {
	if r.err != nil {
		return wire.Message{}, r.err
	}
	m, err := r.next()
	r.err = err
	return m, err
}

func (r *Reader) next() (wire.Message, error) {
	// The trailer's checksum is over what is before it.
	before := hex.EncodeToString(r.sum.Sum(nil))
	line, err := r.line()
	if errors.Is(err, io.EOF) {
		return wire.Message{}, r.corrupt("the file ends here: it has no trailer, so it was cut off")
	}
	if err != nil {
		return wire.Message{}, err
	}
	var kind struct {
		recordLine
		trailerLine
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return wire.Message{}, r.corrupt("it is not JSON: %s", wire.Visible(err.Error()))
	}
	if kind.End {
		// Nothing else covers the trailer itself.
		if want, err := encode(kind.trailerLine); err != nil || !bytes.Equal(line, want) {
			return wire.Message{}, r.corrupt("it is a damaged trailer")
		}
		return wire.Message{}, r.trailer(kind.trailerLine, before)
	}
	rec := kind.recordLine
	if rec.N != r.count+1 {
		return wire.Message{}, r.corrupt("it says that it is record %d: a line is missing, or there twice", rec.N)
	}
	if got := fmt.Sprintf("%08x", crc32.Checksum(rec.Message, castagnoli)); got != rec.Sum {
		return wire.Message{}, r.corrupt("its checksum is %s and should be %s: it was changed or damaged", got, wire.Visible(rec.Sum))
	}
	var m message
	if err := json.Unmarshal(rec.Message, &m); err != nil {
		return wire.Message{}, r.corrupt("it is not a message: %s", wire.Visible(err.Error()))
	}
	out, err := m.message()
	if err != nil {
		return wire.Message{}, r.corrupt("it is not a message: %s", wire.Visible(err.Error()))
	}
	r.count++
	return out, nil
}

func (r *Reader) trailer(t trailerLine, before string) error {
	switch {
	case t.Count != r.count:
		return &CorruptError{0, fmt.Sprintf("the trailer counts %d records, the file has %d", t.Count, r.count)}
	case t.Sum != before:
		return &CorruptError{0, "the checksum of the whole file does not fit: a line outside the records was changed"}
	}
	if _, err := r.r.ReadByte(); err == nil {
		return &CorruptError{0, fmt.Sprintf("there is more behind the trailer of %d records", r.count)}
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return io.EOF
}

// corrupt says what is wrong with the record that comes next; before the header was
// read, with the file.
func (r *Reader) corrupt(format string, args ...any) error {
	n := r.count + 1
	if r.header.ID == "" {
		n = 0
	}
	return &CorruptError{n, fmt.Sprintf(format, args...)}
}

// line gives the next whole line without its end; io.EOF where there is none.
func (r *Reader) line() ([]byte, error) {
	var long []byte
	for {
		part, err := r.r.ReadSlice('\n')
		if len(long)+len(part) > maxLine+1 {
			return nil, r.corrupt("it is longer than %d MiB", maxLine>>20)
		}
		if err == nil && long == nil {
			r.sum.Write(part) // never fails
			return bytes.TrimSuffix(part, []byte{'\n'}), nil
		}
		long = append(long, part...)
		switch {
		case err == nil:
			r.sum.Write(long)
			return bytes.TrimSuffix(long, []byte{'\n'}), nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return nil, err // a line without its end is no line
		}
	}
}

// Verify reads the whole file and says how many records it has.
func Verify(r io.Reader) (Header, int, error) {
	in, err := NewReader(r)
	if err != nil {
		return Header{}, 0, err
	}
	for {
		if _, err := in.Next(); errors.Is(err, io.EOF) {
			return in.header, in.count, nil
		} else if err != nil {
			return in.header, in.count, err
		}
	}
}
