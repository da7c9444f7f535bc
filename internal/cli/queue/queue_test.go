package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

type fake struct {
	backup  governor.BackupResult
	restore governor.RestoreResult
	err     error
	got     governor.BackupOptions
}

func (f *fake) Backup(_ context.Context, _, _ string, o governor.BackupOptions) (governor.BackupResult, error) {
	f.got = o
	return f.backup, f.err
}

func (f *fake) Restore(context.Context, string, governor.RestoreOptions) (governor.RestoreResult, error) {
	return f.restore, f.err
}

func TestParsing(t *testing.T) {
	for line, code := range map[string]int{
		"backup q f":                    exit.Done,
		"backup q":                      exit.Usage,
		"backup q f --max-bytes 0":      exit.Usage,
		"backup q f --ack-timeout -1s":  exit.Usage,
		"restore f":                     exit.Done,
		"restore f --to q":              exit.Done,
		"restore f g":                   exit.Usage,
		"backup q f --ack-timeout 0.5h": exit.Done,
	} {
		c := clitest.New(t, "")
		words := strings.Fields(line)
		cmd := newBackup(c.Factory, func(_ context.Context, o *backupOptions) error {
			if o.Queue != "q" || o.File != "f" || o.MaxBytes <= 0 || o.AckTimeout != 30*time.Minute {
				return fmt.Errorf("%+v", o)
			}
			return nil
		})
		if words[0] == "restore" {
			cmd = newRestore(c.Factory, func(_ context.Context, o *restoreOptions) error {
				if o.File != "f" {
					return fmt.Errorf("%+v", o)
				}
				return nil
			})
		}
		cmd.SetArgs(words[1:])
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.Execute(); exit.Code(err) != code {
			t.Errorf("%s: %v, want code %d", line, err, code)
		}
	}
}

func TestOutput(t *testing.T) {
	evil := "q" + clitest.Evil
	partly := fmt.Errorf("%w: 2 of 3", governor.ErrPartial)
	for _, c := range []struct {
		format render.Format
		err    error
		want   string
	}{
		{render.AsTable, nil, "wrote 2 messages of queue q"},
		{render.AsJSON, nil, `"written": 2`},
		{render.AsJSON, partly, `"planned": 3`},
		{render.AsTable, fmt.Errorf("x: %w", governor.ErrRefused), ""},
	} {
		k := clitest.New(t, "")
		k.Output = c.format
		f := &fake{backup: governor.BackupResult{Queue: evil, File: "f", Planned: 3, Written: 2, Bytes: 1234567}, err: c.err}
		err := runBackup(t.Context(), &backupOptions{Factory: k.Factory, Open: func(context.Context) (backuper, error) { return f, nil }, Queue: evil, File: "f", MaxBytes: 7})
		if !errors.Is(err, c.err) || !strings.Contains(k.Out.String(), c.want) || c.want == "" && k.Out.Len() > 0 || strings.ContainsAny(k.Out.String(), "\x1b\u202e") {
			t.Errorf("%v, stdout %q, want %q", err, k.Out, c.want)
		}
		if f.got.MaxBytes != 7 || f.got.Actor != "ops@desk" {
			t.Errorf("%+v", f.got)
		}
	}
	k := clitest.New(t, "")
	k.Quiet = true // this is no note
	f := &fake{backup: governor.BackupResult{Queue: evil, File: "f", Planned: 3, Written: 2}, err: fmt.Errorf("x: %w", &exit.SignalError{Signal: os.Interrupt})}
	err := runBackup(t.Context(), &backupOptions{Factory: k.Factory, Open: func(context.Context) (backuper, error) { return f, nil }, Queue: evil, File: "f", MaxBytes: 7})
	if exit.Code(err) != exit.Interrupted || !strings.Contains(k.Err.String(), "read 2 of 3 messages of queue q") || !strings.Contains(k.Err.String(), "all of it is still on the queue") ||
		k.Out.Len() > 0 || strings.ContainsAny(k.Err.String(), "\x1b\u202e") {
		t.Errorf("%v, stdout %q, stderr %q", err, k.Out, k.Err)
	}
	for _, c := range []struct {
		r    governor.RestoreResult
		err  error
		want string
	}{
		{governor.RestoreResult{Queue: evil, Records: 3, Restored: 2, Left: 1}, partly, "restored 2 messages to queue q"},
		{governor.RestoreResult{Queue: evil, Records: 3, Skipped: 3}, nil, "restored 0 messages"},
		{governor.RestoreResult{Queue: evil, Records: 3, Restored: 1, Left: 2, Unconfirmed: 2}, partly, "2 left; 2 of these had no confirm"},
		{governor.RestoreResult{}, governor.ErrNotFound, ""},
		{governor.RestoreResult{Records: 3, Left: 3}, governor.ErrFile, ""},
	} {
		k := clitest.New(t, "")
		f := &fake{restore: c.r, err: c.err}
		err := runRestore(t.Context(), &restoreOptions{Factory: k.Factory, Open: func(context.Context) (restorer, error) { return f, nil }, File: "f"})
		if !errors.Is(err, c.err) || !strings.Contains(k.Out.String(), c.want) || c.want == "" && k.Out.Len() > 0 {
			t.Errorf("%v, stdout %q, want %q", err, k.Out, c.want)
		}
	}
}

// A file of this machine that will not do is one code, and the hint names the file.
func TestAFileThatWillNotDo(t *testing.T) {
	k := clitest.New(t, "")
	f := &fake{err: fmt.Errorf("x: %w", governor.ErrFile)}
	backup := runBackup(t.Context(), &backupOptions{Factory: k.Factory, Open: func(context.Context) (backuper, error) { return f, nil }, Queue: "q", File: "/nodir/x"})
	restore := runRestore(t.Context(), &restoreOptions{Factory: k.Factory, Open: func(context.Context) (restorer, error) { return f, nil }, File: "/nodir/x"})
	for verb, err := range map[string]error{"backup": backup, "restore": restore} {
		var hint *exit.Hint
		if exit.Code(err) != exit.Usage || !errors.As(err, &hint) || !strings.HasPrefix(hint.Next, "/nodir/x must be") {
			t.Errorf("%s: %v, code %d", verb, err, exit.Code(err))
		}
	}
}
