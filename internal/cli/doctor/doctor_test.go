package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traction-go/traction/internal/cli/clitest"
	"github.com/traction-go/traction/internal/cli/exit"
	"github.com/traction-go/traction/internal/cli/render"
	"github.com/traction-go/traction/pkg/governor"
)

var sick = []governor.Finding{
	{Level: governor.LevelOK, Check: "broker", Found: "RabbitMQ 3.10.8"},
	{Level: governor.LevelSerious, Check: "topology", Subject: "tr.x" + clitest.Evil, Found: "refused: " + clitest.Evil, Fix: "back it up"},
}

func TestOutputAndExit(t *testing.T) {
	for _, c := range []struct {
		found  []governor.Finding
		format render.Format
		code   int
		want   string
	}{
		{sick, render.AsTable, exit.Failed, "ok       broker: RabbitMQ 3.10.8\nserious  topology tr.x"},
		{sick, render.AsJSON, exit.Failed, `"level": "serious"`},
		{sick[:1], render.AsJSONL, exit.Done, `{"level":"ok","check":"broker","subject":"","found":"RabbitMQ 3.10.8","fix":""}` + "\n"},
		{nil, render.AsJSON, exit.Done, "[]\n"},
	} {
		k := clitest.New(t, "")
		k.Output = c.format
		err := run(t.Context(), &options{Factory: k.Factory, Examine: func(context.Context, governor.Config, ...governor.Airport) ([]governor.Finding, error) {
			return c.found, nil
		}})
		if exit.Code(err) != c.code || !strings.HasPrefix(k.Out.String(), c.want) && !strings.Contains(k.Out.String(), c.want) || strings.ContainsAny(k.Out.String(), "\x1b\u202e") {
			t.Errorf("%v, stdout %q, want %q", err, k.Out, c.want)
		}
	}
}

func TestTheConfigurationIsWhatIsWanted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "traction.yaml")
	text := "amqp: amqp://h\nredis: redis://h\nairports:\n  crm:acme:\n    gates:\n      contacts: {http: {url: 'http://127.0.0.1:9/x'}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := clitest.New(t, "")
	var got []governor.Airport
	opts := &options{Factory: k.Factory, Config: file, Examine: func(_ context.Context, _ governor.Config, a ...governor.Airport) ([]governor.Finding, error) {
		got = a
		return nil, nil
	}}
	if err := run(t.Context(), opts); err != nil || len(got) != 1 || got[0].ID != "crm:acme" || len(got[0].Gates) != 1 {
		t.Errorf("%v %+v", err, got)
	}
	opts.Config = file + "x"
	if err := run(t.Context(), opts); exit.Code(err) != exit.Usage {
		t.Errorf("%v", err)
	}
}
