package store_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/traction-go/traction/internal/store"
	"github.com/traction-go/traction/internal/testsvc"
	"github.com/traction-go/traction/pkg/settle"
)

// standsAlone marks a script that takes neither the common head nor its arguments.
const standsAlone = "KEYS and the head of ARGV: its own."

func scriptFiles(t *testing.T) map[string]string {
	paths, err := filepath.Glob("scripts/*.lua")
	if err != nil || len(paths) < 10 {
		t.Fatalf("found %d scripts: %v", len(paths), err)
	}
	files := map[string]string{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(p), ".lua")] = string(b)
	}
	return files
}

// The memory reads replies by the order of fields that lib.lua writes.
func TestFieldsAreTheScripts(t *testing.T) {
	list := regexp.MustCompile(`(?s)local FIELDS = \{(.*?)\}`).FindStringSubmatch(scriptFiles(t)["lib"])
	if list == nil {
		t.Fatal("lib.lua has no FIELDS")
	}
	var lua []string
	for _, m := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(list[1], -1) {
		lua = append(lua, m[1])
	}
	if !slices.Equal(lua, store.Fields) {
		t.Errorf("memory.go and lib.lua differ:\n%v\n%v", store.Fields, lua)
	}
}

// Every script says at its head what it does, which keys and arguments it takes and
// what it replies; and every file is part of one.
func TestEveryScriptDocumentsItsCall(t *testing.T) {
	files := scriptFiles(t)
	used := map[string]bool{"lib": true}
	for name, parts := range store.Parts {
		for _, p := range parts {
			used[p] = true
		}
		var head []string
		for _, line := range strings.Split(files[name], "\n") {
			if !strings.HasPrefix(line, "--") {
				break
			}
			head = append(head, line)
		}
		text := strings.Join(head, "\n")
		for _, want := range []string{"-- " + name + ": ", "KEYS and the head of ARGV: lib.lua", "Reply: head"} {
			if !strings.Contains(text, want) && !(want == "Reply: head" && name == "used" && strings.Contains(text, "Reply:")) {
				t.Errorf("the head of %s.lua does not have %q", name, want)
			}
		}
	}
	for name, src := range files {
		if !used[name] && !strings.Contains(src, standsAlone) {
			t.Errorf("%s.lua is part of no script", name)
		}
	}
	doc, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/wire.md does not describe the script %s", name)
		}
	}
}

// A cluster runs a script where its declared keys are: all keys come from KEYS.
func TestScriptsTouchDeclaredKeysOnly(t *testing.T) {
	call := regexp.MustCompile(`redis\.call\('(\w+)'(?:, *([^,)]+))?`)
	declared := regexp.MustCompile(`^(K\.\w+|G\.(key|sGate|sRecord|sTransient|holding)|x\.(key|sGate|sRecord|sTransient|holding)|g\.(key|holding)|r\.(key|seats)|key|channel)$`)
	n := 0
	for name, src := range scriptFiles(t) {
		if strings.Contains(src, standsAlone) {
			continue // it names KEYS itself
		}
		for _, m := range call.FindAllStringSubmatch(src, -1) {
			n++
			if m[1] != "TIME" && !declared.MatchString(m[2]) {
				t.Errorf("%s.lua: %s of %q, which is not in KEYS", name, m[1], m[2])
			}
		}
	}
	if n < 50 {
		t.Errorf("found %d calls only", n)
	}
}

// What docs/wire.md grants is enough for every script, and no key or channel
// outside the namespace is touched.
func TestScriptsRunWithFewRights(t *testing.T) {
	p := testsvc.Redis(t)
	raw := client(t, p.Addr)
	ctx := context.Background()
	doc, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	grant := regexp.MustCompile("`(~tr:\\* &tr:\\* [^`]+)`").FindStringSubmatch(string(doc))
	if grant == nil {
		t.Fatal("docs/wire.md does not say which rights the scripts need")
	}
	args := []any{"ACL", "SETUSER", "traction", "on", ">secret"}
	for _, r := range strings.Fields(grant[1]) {
		args = append(args, r)
	}
	if err := raw.Do(ctx, args...).Err(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Config{URLs: []string{"redis://traction:secret@" + p.Addr}, Namespace: "tr"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	store.SetClock(t) // read through a script of its own rights
	grantClock := raw.Do(ctx, "ACL", "SETUSER", "traction", "~"+store.ClockKey, "+lrange").Err()
	if grantClock != nil {
		t.Fatal(grantClock)
	}
	b := &board{s: s, raw: raw, keys: s.Namespace().Keys(modelAirport), d: server{p.Addr, "tr", raw}, now: 1_700_000_000_000, from: map[string]store.FlightReply{}}
	b.at(0)
	b.lane = newLane(t, s, "w1")
	b.op = s.Airport(modelAirport, "dana", "contacts")
	b.bear(store.Slots{N: 100, Per: time.Second, Stamp: 1})
	b.take(20)
	b.end(1, settle.Landed)
	b.end(5, settle.Transient)
	b.end(5, settle.FlightFault)
	b.end(3, settle.GateFault)
	b.end(1, settle.RateLimit)
	b.end(1, settle.AirportFault)
	if _, err := b.a.SlotsUsed(ctx); err != nil {
		t.Error(err)
	}
	if _, _, _, err := b.a.Declare(ctx, "", 5, map[string]string{"mode": "enforce"}); err != nil {
		t.Error(err)
	}
	if _, err := b.a.Notes(ctx, nil); err != nil {
		t.Error(err)
	}
	b.pause("")
	b.reopen("", 0)
	loseBoth(b)
	b.at(11_000)
	b.restore()
	b.sweep()
	b.lease(b.lane, b.lease(b.lane, nil))
	if _, err := s.Snapshots(ctx, modelAirport); err != nil {
		t.Error(err)
	}
	if _, err := s.Audit(ctx, modelAirport, 10); err != nil {
		t.Error(err)
	}
	if log, err := raw.Do(ctx, "ACL", "LOG").Slice(); err != nil || len(log) != 0 {
		t.Errorf("refused: %v, %v", log, err)
	}
}
