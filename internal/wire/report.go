package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// ReportVersion is the version of the report form this package writes and reads.
const ReportVersion = 1

// Evidence says why, in the words of whoever failed: bounded, masked and visible
// (CleanEvidence).
type Evidence struct {
	Class   string `json:"class,omitempty"`
	Excerpt string `json:"excerpt,omitempty"`
}

// String writes "class | excerpt".
func (e Evidence) String() string {
	switch {
	case e.Class == "":
		return e.Excerpt
	case e.Excerpt == "":
		return e.Class
	}
	return e.Class + " | " + e.Excerpt
}

// Report is one settled step as told to whoever listens.
type Report struct {
	Flight     string    `json:"flight"`
	BusinessID string    `json:"business_id,omitempty"`
	Scope      string    `json:"scope"`
	Charter    string    `json:"charter,omitempty"`
	Seat       *int      `json:"seat,omitempty"`
	Epoch      int64     `json:"epoch"`
	Outcome    string    `json:"outcome"`
	Settled    string    `json:"settled"`
	Reason     string    `json:"reason,omitempty"`
	Evidence   *Evidence `json:"evidence,omitempty"`
	Attempt    int       `json:"attempt"`
	At         time.Time `json:"at"`
	Applied    bool      `json:"applied"`
}

// ReportBatch is what one message on the reports exchange carries.
type ReportBatch struct {
	Version int      `json:"v"`
	Worker  string   `json:"worker"`
	Reports []Report `json:"reports"`
}

// ErrVersion is the class of a form of a version this code cannot read.
var ErrVersion = errors.New("unknown version")

// maxReportBatch bounds what is decoded, in bytes.
const maxReportBatch = 4 << 20

// ParseReports reads a batch and refuses another version, and anything that is
// not what ReportBatch says. What it lets through is safe to build keys and
// offsets from, and its evidence is clean, whoever wrote it.
func ParseReports(body []byte) (ReportBatch, error) {
	var b ReportBatch
	if len(body) > maxReportBatch {
		return b, fmt.Errorf("reports: %d bytes, over the limit of %d", len(body), maxReportBatch)
	}
	// The version first: another one may have other types in the same fields.
	var head struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return b, fmt.Errorf("reports: %w", err)
	}
	if head.Version != ReportVersion {
		return b, fmt.Errorf("reports: version %d, this reads %d: %w", head.Version, ReportVersion, ErrVersion)
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return b, fmt.Errorf("reports: %w", err)
	}
	if len(b.Worker) > 255 {
		return b, fmt.Errorf("reports: worker of %d bytes, at most 255", len(b.Worker))
	}
	for i := range b.Reports {
		if err := b.Reports[i].check(); err != nil {
			return b, fmt.Errorf("report %d: %w", i, err)
		}
	}
	return b, nil
}

// check refuses what could not have been a settled step, and cleans the evidence.
func (r *Report) check() error {
	if _, err := ParseGate(r.Scope); err != nil {
		return err
	}
	if err := CheckFlightID(r.Flight); err != nil {
		return err
	}
	if err := CheckBusinessID(r.BusinessID); err != nil {
		return err
	}
	if r.Charter != "" {
		if err := CheckName("run", r.Charter); err != nil {
			return err
		}
	}
	// A seat is an offset into the run's books.
	if (r.Charter == "") != (r.Seat == nil) {
		return errors.New("a charter and a seat go together")
	}
	if r.Seat != nil && (*r.Seat < 0 || *r.Seat > math.MaxInt32) {
		return fmt.Errorf("seat %d: want 0 to %d", *r.Seat, math.MaxInt32)
	}
	if r.Epoch < 0 || r.Attempt < 0 {
		return fmt.Errorf("epoch %d, attempt %d: want 0 or more", r.Epoch, r.Attempt)
	}
	for _, word := range []string{r.Outcome, r.Settled, r.Reason} {
		if len(word) > 64 || Visible(word) != word {
			return fmt.Errorf("%q: want at most 64 bytes of visible text", bound(word, 80))
		}
	}
	if r.Evidence != nil {
		r.Evidence.Class = CleanEvidence(r.Evidence.Class)
		r.Evidence.Excerpt = CleanEvidence(r.Evidence.Excerpt)
	}
	return nil
}
