package top

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/traction-go/traction/internal/cli/render"
)

// frame writes the picture as text that needs no terminal: every airport, one a
// line, nothing cut where width is 0.
func (m Model) frame(width int) string {
	var b strings.Builder
	age := m.fleet.age(m.now, m.patience())
	text, _ := overview(m.fleet.data, m.g)
	fmt.Fprintf(&b, "%s  namespace %s  %s\n", render.Stamp(m.now), m.opts.Namespace, age.text)
	if m.fleet.at.IsZero() {
		return b.String()
	}
	if width > 0 {
		text = strings.Join(fold(text, width), "\n")
	}
	fmt.Fprintln(&b, text)
	l := &m.screen().page().list
	drawn := make([][]cell, len(l.shown))
	for i, e := range l.shown {
		drawn[i] = e.cells(m.eye())
	}
	fitted := m.layout(tabAirports, drawn, width)
	if len(drawn) == 0 {
		fmt.Fprintln(&b, tables[tabAirports].empty)
		return b.String()
	}
	fmt.Fprintln(&b, strings.TrimRight(m.paint.text(render.Dim, fitted.heading(m.g)), " "))
	for _, row := range drawn {
		fmt.Fprintln(&b, strings.TrimRight(fitted.line(row, m.paint, m.g), " "))
	}
	return b.String()
}

// Once takes one picture and writes it. A picture that could not be taken is the
// error of the reading.
func Once(ctx context.Context, o Options, w io.Writer, width int) error {
	m, err := New(ctx, o)
	if err != nil {
		return err
	}
	defer m.life.end()
	if err := m.shoot(); err != nil {
		return err
	}
	_, err = io.WriteString(w, m.frame(width))
	return err
}

// Frames writes a picture every interval until ctx ends, a blank line between
// two. A reading that fails makes a stale picture and not an end. It returns when
// a write fails, or with the cause of ctx's end.
func Frames(ctx context.Context, o Options, w io.Writer, width int) error {
	m, err := New(ctx, o)
	if err != nil {
		return err
	}
	defer m.life.end()
	ticks := time.NewTicker(m.opts.Interval)
	defer ticks.Stop()
	for between := ""; ; between = "\n" {
		_ = m.shoot() // the picture says so
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m.broken != nil {
			return m.broken
		}
		if _, err := io.WriteString(w, between+m.frame(width)); err != nil {
			return fmt.Errorf("write the frame: %w", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks.C:
		}
	}
}

// shoot takes one picture here and now.
func (m *Model) shoot() error {
	m.now = m.opts.Now()
	ctx, cancel := context.WithTimeout(m.life.ctx, m.opts.Timeout)
	defer cancel()
	m.take(read(ctx, m.opts.Reader, m.screen().place(), false, m.opts.Now))
	if m.broken != nil {
		return m.broken
	}
	return m.fleet.err
}
