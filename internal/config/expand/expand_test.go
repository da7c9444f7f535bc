package expand

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func source(dir string) Source {
	vars := map[string]string{"HOST": "crm.example", "TOKEN_2": "t0ken", "EMPTY": ""}
	return Source{Dir: dir, Env: func(n string) (string, bool) { v, ok := vars[n]; return v, ok }}
}

func TestParse(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token.txt"), "s3cret\r\n")
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"$", "$"},
		{"a$b{c}", "a$b{c}"},
		{"https://${HOST}/x", "https://crm.example/x"},
		{"${HOST}${TOKEN_2}", "crm.examplet0ken"},
		{"<${EMPTY}>", "<>"},
		{"Bearer ${file:token.txt}", "Bearer s3cret"},
		{"${file:" + filepath.Join(dir, "token.txt") + "}", "s3cret"},
		{"$${HOST}", "${HOST}"},
		{"a$${x}${HOST}", "a${x}crm.example"},
	} {
		got, err := Parse(c.in, source(dir))
		if err != nil || got.Get() != c.want {
			t.Errorf("Parse(%q) = %v, %v, want %q", c.in, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "empty"), "\n")
	write(t, filepath.Join(dir, "two"), "a\nb\n")
	write(t, filepath.Join(dir, "big"), strings.Repeat("x", maxFile+1))
	for _, c := range []struct{ in, want string }{
		{"${NOPE}", "${NOPE}: the environment variable NOPE is not set"},
		{"x${HOST", "${: is not closed: want ${NAME} or ${file:path}; write $${ for a plain ${"},
		{"${}", "${}: is no reference: want ${NAME}, of letters, digits and _, or ${file:path}; write $${ for a plain ${"},
		{"${HOST:-x}", "${HOST:-x}: is no reference: want ${NAME}, of letters, digits and _, or ${file:path}; write $${ for a plain ${"},
		{"${9X}", "${9X}: is no reference: want ${NAME}, of letters, digits and _, or ${file:path}; write $${ for a plain ${"},
		{"${file:}", "${file:}: names no file: want ${file:path}"},
		{"${file:gone}", "${file:gone}: reading " + dir + "/gone: no such file or directory"},
		{"${file:empty}", "${file:empty}: " + dir + "/empty is empty"},
		{"${file:two}", "${file:two}: " + dir + "/two holds a control character or a second line: want one line of text"},
		{"${file:big}", "${file:big}: " + dir + "/big is larger than 64 KiB: a secret is expected there"},
		{"${file:.}", "${file:.}: " + dir + " is not a regular file"},
	} {
		_, err := Parse(c.in, source(dir))
		if err == nil || err.Error() != c.want || !errors.Is(err, ErrExpand) {
			t.Errorf("Parse(%q): %v\nwant %s", c.in, err, c.want)
		}
	}
}

func TestFileIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write(t, path, "one")
	text, err := Parse("Bearer ${file:"+path+"}", source(""))
	if err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		if got := text.Get(); got != "Bearer "+want {
			t.Fatalf("Get() = %q, want Bearer %s", got, want)
		}
		if got := text.Files(); len(got) != 1 || got[0] != want {
			t.Fatalf("Files() = %q, want %s", got, want)
		}
	}
	is("one")
	write(t, path, "three")
	is("three")
	write(t, path, "") // half a rotation
	is("three")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	is("three")
	write(t, path+".new", "seven") // the same length, swapped in
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	is("seven")
	old, err := os.Stat(path) // of the same length and time, swapped in
	if err != nil {
		t.Fatal(err)
	}
	write(t, path+".new", "SEVEN")
	if err := os.Chtimes(path+".new", old.ModTime(), old.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	is("SEVEN")
	write(t, path, "eight")
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	is("eight")
}

func TestTextIsSafeForManyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write(t, path, "one")
	text, err := Parse("${file:"+path+"}", source(""))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := text.Get(); got != "one" && got != "two" {
					t.Errorf("Get() = %q", got)
				}
			}
		})
	}
	write(t, path+".new", "two")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

func TestWhatATextRefersTo(t *testing.T) {
	text, err := Parse("a${HOST}b", source(""))
	if err != nil || !text.Refers() || len(text.Variables()) != 1 || text.Variables()[0] != "crm.example" {
		t.Errorf("%v, %v", text, err)
	}
	if text, _ := Parse("plain", source("")); text.Refers() {
		t.Error("plain text refers to nothing")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
