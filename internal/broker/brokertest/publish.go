package brokertest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/traction-go/traction/internal/broker"
	"github.com/traction-go/traction/internal/wire"
)

func testOrder(e *env) {
	q := e.queue()
	want := wire.Message{
		ID: "full", Type: "t", ContentType: "application/json", ContentEncoding: "identity",
		CorrelationID: "c", ReplyTo: "r", AppID: "a", Priority: 3,
		Timestamp: time.Unix(1700000000, 0),
		Headers: map[string]any{
			"string": "é", "int": int64(-1), "bool": true, "nil": nil, "bytes": []byte{0, 255},
			"float": 1.5, "time": time.Unix(1600000000, 0), "decimal": broker.Decimal{Scale: 2, Value: 314},
			"table": map[string]any{"deep": map[string]any{"x": int32(1)}},
			"array": []any{"a", int64(2), map[string]any{"k": "v"}, []any{}},
		},
		Body: []byte{0, 1, 2, 255},
	}
	for _, err := range e.tr.Publish(e.ctx, []broker.Publishing{{Key: q, Message: want}}) {
		if err != nil {
			e.Fatal(err)
		}
	}
	const n = 3000
	e.fill(q, n)
	s := e.subscribe(q, 500)
	d := e.next(s)
	if got := d.Message(); !reflect.DeepEqual(got, want) {
		e.Errorf("came out as\n%#v\nwent in as\n%#v", got, want)
	}
	if d.Redelivered() || d.Queue() != q || d.Session() == 0 {
		e.Errorf("redelivered %v, queue %q, session %d", d.Redelivered(), d.Queue(), d.Session())
	}
	e.ack(d)
	for i := range n {
		d := e.next(s)
		if d.Message().ID != fmt.Sprint(i) || string(d.Message().Body) != fmt.Sprint(i) {
			e.Fatalf("delivery %d is %q", i, d.Message().ID)
		}
		e.ack(d)
	}
	if got := e.tr.Publish(e.ctx, nil); len(got) != 0 {
		e.Errorf("nothing published gave %v", got)
	}
}

func testUnroutable(e *env) {
	x, q := e.name("exchange"), e.name("queue")
	e.declare(broker.Topology{
		Exchanges: []broker.Exchange{{Name: x, Kind: broker.Direct}},
		Queues:    []broker.Queue{{Name: q}},
		Bindings:  []broker.Binding{{Queue: q, Exchange: x, Key: "good"}},
	})
	// The same message id goes everywhere: an answer belongs to one publishing.
	m := wire.Message{ID: "same", Body: []byte("same")}
	var msgs []broker.Publishing
	for i := range 200 {
		msgs = append(msgs, broker.Publishing{Exchange: x, Key: []string{"good", "bad"}[i%2], Message: m})
	}
	for i, err := range e.tr.Publish(e.ctx, msgs) {
		if i%2 == 0 && err != nil {
			e.Fatalf("%d: %v", i, err)
		}
		if i%2 == 1 && !errors.Is(err, broker.ErrUnroutable) {
			e.Fatalf("%d: %v, want unroutable", i, err)
		}
	}
	e.untilDepth(q, 100)
	errs := e.tr.Publish(e.ctx, []broker.Publishing{{Exchange: x, Key: "bad", Optional: true, Message: m}, {Key: e.name("nothing"), Message: m}})
	if errs[0] != nil || !errors.Is(errs[1], broker.ErrUnroutable) {
		e.Errorf("optional %v, default exchange %v", errs[0], errs[1])
	}
}

func testMixed(e *env) {
	q := e.queue()
	nowhere := e.name("nowhere")
	bad := []broker.Publishing{
		{Exchange: nowhere, Key: "k", Message: wire.Message{ID: "b"}},
		{Key: q, Message: wire.Message{ID: strings.Repeat("x", 256)}},
		{Key: q, Message: wire.Message{ID: "b", Headers: map[string]any{"h": make(chan int)}}},
	}
	classes := []error{broker.ErrUnroutable, broker.ErrInvalid, broker.ErrInvalid}
	var msgs []broker.Publishing
	for i := range 90 {
		msgs = append(msgs, text(fmt.Sprint(i), q), bad[i%len(bad)])
	}
	for i, err := range e.tr.Publish(e.ctx, msgs) {
		if i%2 == 0 && err != nil {
			e.Fatalf("a good one: %v", err)
		}
		if want := classes[i/2%len(bad)]; i%2 == 1 && !errors.Is(err, want) {
			e.Fatalf("a bad one: %v, want %v", err, want)
		}
	}
	e.untilDepth(q, 90)
}

func testConcurrent(e *env) {
	q := e.queue()
	var wg sync.WaitGroup
	for g := range 50 {
		wg.Go(func() {
			for i := range 40 {
				for _, err := range e.tr.Publish(e.ctx, []broker.Publishing{text(fmt.Sprintf("%d/%d", g, i), q)}) {
					if err != nil {
						e.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	e.untilDepth(q, 2000)
	s := e.subscribe(q, 1000)
	seen := map[string]bool{}
	last := map[string]int{}
	for range 2000 {
		d := e.next(s)
		var g, i int
		if _, err := fmt.Sscanf(d.Message().ID, "%d/%d", &g, &i); err != nil {
			e.Fatal(err)
		}
		seen[d.Message().ID] = true
		if k := fmt.Sprint(g); i < last[k] {
			e.Fatalf("publisher %d: %d came after %d", g, i, last[k])
		} else {
			last[k] = i
		}
		e.ack(d)
	}
	if len(seen) != 2000 {
		e.Errorf("%d of 2000 arrived", len(seen))
	}
}

func testInvalid(e *env) {
	q := e.queue()
	long := strings.Repeat("x", 256)
	msgs := []broker.Publishing{
		{Key: long}, {Key: "\xff"}, {Exchange: "\xff"}, {Exchange: long},
		{Key: q, Message: wire.Message{Type: long}},
		{Key: q, Message: wire.Message{Headers: map[string]any{long: 1}}},
		{Key: q, Message: wire.Message{Headers: map[string]any{"t": map[string]any{"in": []any{struct{}{}}}}}},
		{Key: q, Message: wire.Message{Headers: map[string]any{"big": strings.Repeat("x", 130<<10)}}},
	}
	for i, err := range e.tr.Publish(e.ctx, msgs) {
		if !errors.Is(err, broker.ErrInvalid) {
			e.Errorf("publishing %d: %v, want invalid", i, err)
		}
	}
	for _, top := range []broker.Topology{
		{Queues: []broker.Queue{{Name: "\xff"}}}, {Queues: []broker.Queue{{Name: long}}},
		{Exchanges: []broker.Exchange{{Name: "x", Kind: "headers"}}},
		{Bindings: []broker.Binding{{Queue: q, Exchange: "x", Key: long}}},
	} {
		if err := e.tr.Declare(e.ctx, top); !errors.Is(err, broker.ErrInvalid) {
			e.Errorf("declare: %v, want invalid", err)
		}
	}
	for _, n := range []int{0, -1, 65536} {
		if _, err := e.tr.Subscribe(e.ctx, q, n); !errors.Is(err, broker.ErrInvalid) {
			e.Errorf("prefetch %d: %v, want invalid", n, err)
		}
	}
	// What is odd but allowed.
	odd := []broker.Publishing{
		{Key: q, Message: wire.Message{ID: "a b/*#\n\x1b\u202e", Body: nil}},
		{Key: q, Message: wire.Message{ID: strings.Repeat("x", 255), Headers: map[string]any{strings.Repeat("k", 255): strings.Repeat("v", 100<<10), "": ""}}},
		{Key: q, Message: wire.Message{ID: "big", Body: make([]byte, 3<<20)}},
		{Key: q, Message: wire.Message{ID: "binary", Headers: map[string]any{"v": "\xff\xfe"}}},
	}
	for i, err := range e.tr.Publish(e.ctx, odd) {
		if err != nil {
			e.Errorf("odd %d: %v", i, err)
		}
	}
	s := e.subscribe(q, 10)
	for i := range odd {
		if d := e.next(s); d.Message().ID != odd[i].Message.ID || len(d.Message().Body) != len(odd[i].Message.Body) {
			e.Errorf("odd %d came out as %.20q with %d bytes", i, d.Message().ID, len(d.Message().Body))
		}
	}
}
