package command

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestFilledRefusesWhatWouldChooseAll(t *testing.T) {
	for _, tt := range []struct {
		args []string
		ok   bool
	}{
		{nil, true},
		{[]string{"--id", "x", "--limit", "1", "--age", "1s"}, true},
		{[]string{"--id", "0"}, true}, // an id is not a number
		{[]string{"--id", ""}, false},
		{[]string{"--limit", "0"}, false},
		{[]string{"--limit", "-1"}, false},
		{[]string{"--age", "0d"}, false},
	} {
		cmd := &cobra.Command{Use: "x"}
		var age Duration
		cmd.Flags().String("id", "", "")
		cmd.Flags().Int("limit", 0, "")
		cmd.Flags().Var(&age, "age", "")
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		if err := Filled(cmd, "id", "limit", "age", "absent"); (err == nil) != tt.ok {
			t.Errorf("%q: %v", tt.args, err)
		}
	}
}

func TestADurationHasBounds(t *testing.T) {
	for s, ok := range map[string]bool{"90m": true, "7d": true, "36500d": true, "36501d": false, "999999d": false, "-1s": false, "2000000h": false, "d": false, "": false} {
		var d Duration
		if err := d.Set(s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}
