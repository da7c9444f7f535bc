package queue

import (
	"github.com/traction-go/traction/internal/cli/form"
	"github.com/traction-go/traction/internal/rehearse"
	"github.com/traction-go/traction/internal/wire"
)

// rehearsalForm is a rehearsal as JSON.
type rehearsalForm struct {
	Config      wire.Text   `json:"config"`
	Namespace   string      `json:"namespace"`
	Flights     int         `json:"flights"`
	Passed      bool        `json:"passed"`
	Interrupted bool        `json:"interrupted"`
	Notes       []wire.Text `json:"notes"`
	Steps       []stepForm  `json:"steps"`
	Books       []booksForm `json:"books"`
	LeftBehind  []wire.Text `json:"left_behind"`
	Verdict     wire.Text   `json:"verdict"`
}

type stepForm struct {
	Step   string    `json:"step"`
	Result string    `json:"result"`
	TookS  float64   `json:"took_s"`
	Seen   wire.Text `json:"seen"`
	Wanted wire.Text `json:"wanted"`
	Next   wire.Text `json:"next"`
}

type booksForm struct {
	Gate      string `json:"gate"`
	Sent      int    `json:"sent"`
	Landed    int    `json:"landed"`
	Rejected  int    `json:"rejected"`
	Parked    int    `json:"parked"`
	Discarded int    `json:"discarded"`
	Left      int    `json:"left"`
	Twice     int    `json:"landed_twice"`
}

func rehearsed(config string, r *rehearse.Report) rehearsalForm {
	text := func(s string) wire.Text { return wire.Text(s) }
	return rehearsalForm{
		Config: wire.Text(config), Namespace: r.Namespace, Flights: r.Flights, Passed: r.Passed(), Interrupted: r.Interrupted,
		Notes: form.Each(r.Notes, text), LeftBehind: form.Each(r.Left, text), Verdict: wire.Text(r.Verdict()),
		Steps: form.Each(r.Steps, func(s rehearse.Step) stepForm {
			return stepForm{s.Name, string(s.Result), s.Took.Seconds(), wire.Text(s.Seen), wire.Text(s.Wanted), wire.Text(s.Next)}
		}),
		Books: form.Each(r.Books, func(b rehearse.Books) booksForm {
			return booksForm{b.Gate, b.Sent, b.Landed, b.Rejected, b.Parked, b.Discarded, b.Left, b.Twice}
		}),
	}
}
