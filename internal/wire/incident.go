package wire

// The kinds of notifications; the first five are also kinds of incidents.
const (
	GroundStop      = "GROUND_STOP"
	GateStop        = "GATE_STOP"
	GroundDelay     = "GROUND_DELAY"
	PoisonPill      = "POISON_PILL"
	StateLost       = "STATE_LOST"
	Parking         = "PARKING"
	WorkerDeaths    = "WORKER_DEATHS"
	CharterComplete = "CHARTER_COMPLETE"
	Reopened        = "REOPENED"
)

// Incident is one stop with its reason, its evidence, the records implicated and
// how it ended, as the store keeps it. Times are milliseconds of the store.
type Incident struct {
	ID         string   `json:"id"`
	Scope      string   `json:"scope"`
	Kind       string   `json:"kind"`
	Reason     string   `json:"reason"`
	OpenedAt   int64    `json:"opened_at"`
	ClosedAt   int64    `json:"closed_at,omitempty"`
	ClosedBy   string   `json:"closed_by,omitempty"`
	Evidence   string   `json:"evidence,omitempty"`
	Records    []string `json:"records,omitempty"` // the first 20
	Workers    []string `json:"workers,omitempty"` // the first 20
	Faults     int      `json:"faults,omitempty"`  // how many faults it took in
	NotifiedAt int64    `json:"notified_at,omitempty"`
	Observed   bool     `json:"observed,omitempty"` // would have stopped (mode observe)
}

// Notice is one entry of the outbox: what a hook is told, under one key.
type Notice struct {
	Key      string   `json:"key"` // the Idempotency-Key
	Type     string   `json:"type"`
	Scope    string   `json:"scope"`
	Reason   string   `json:"reason"`
	Evidence string   `json:"evidence,omitempty"`
	Incident string   `json:"incident,omitempty"`
	Records  []string `json:"records,omitempty"`
	Workers  []string `json:"workers,omitempty"`
	Actor    string   `json:"actor,omitempty"`
	At       int64    `json:"at"`
	Observed bool     `json:"observed,omitempty"`
}

// AuditEntry is one action of an operator.
type AuditEntry struct {
	ID     string `json:"id"` // the stream's
	At     int64  `json:"at"`
	Actor  string `json:"actor"`
	Action string `json:"action"`
	Scope  string `json:"scope"`
	Reason string `json:"reason,omitempty"`
	Result string `json:"result"`
	Count  int    `json:"count"`
}
