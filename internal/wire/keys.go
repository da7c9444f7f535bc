package wire

// Keys names what the store keeps for one airport. All keys of an airport share
// a hash tag, so that one script can touch them on a cluster.
type Keys struct{ prefix string }

// Keys gives the key names of an airport in this namespace.
func (n Namespace) Keys(airport string) Keys {
	return Keys{string(n) + ":{" + airport + "}:"}
}

// Airports is the set of airports ever declared in the namespace.
func (n Namespace) Airports() string { return string(n) + ":airports" }

// Removed is the set of airports that were removed: their incidents and audit are kept.
func (n Namespace) Removed() string { return string(n) + ":removed" }

// Worker is the heartbeat of a worker process.
func (n Namespace) Worker(id string) string { return string(n) + ":worker:" + id }

// Tower is the heartbeat of a tower.
func (n Namespace) Tower(id string) string { return string(n) + ":tower:" + id }

// WorkerPrefix and TowerPrefix find the heartbeats of all processes.
func (n Namespace) WorkerPrefix() string { return string(n) + ":worker:" }

// TowerPrefix starts the key of every tower's heartbeat.
func (n Namespace) TowerPrefix() string { return string(n) + ":tower:" }

// Events is the pub/sub channel on which changes of state are announced. The
// stored status is the truth; an event is only a reason to read it.
func (n Namespace) Events() string { return string(n) + ":events" }

// Airport is the hash of the airport's status.
func (k Keys) Airport() string { return k.prefix + "airport" }

// Gate is the hash of a gate's status.
func (k Keys) Gate(gate string) string { return k.prefix + "gate:" + gate }

// Tick counts the script calls; a lower one means that the store went back.
func (k Keys) Tick() string { return k.prefix + "tick" }

// Slots is the ring of the shared rate limit.
func (k Keys) Slots() string { return k.prefix + "slots" }

// Streak is a sorted set of records (score: settle time). kind is one of
// StreakGate, StreakRecord, StreakTransient.
func (k Keys) Streak(gate, kind string) string { return k.prefix + "streak:" + gate + ":" + kind }

// AirportStreak is the sorted set of records whose AIRPORT_FAULTs count toward a
// threshold above one.
func (k Keys) AirportStreak() string { return k.prefix + "streak" }

// The kinds of a gate's streaks.
const (
	StreakGate      = "gate"
	StreakRecord    = "record"
	StreakTransient = "transient"
)

// Flying is the hash of notes and landing marks by flight id.
func (k Keys) Flying() string { return k.prefix + "flying" }

// Beats is the hash of incarnations and their last beat.
func (k Keys) Beats() string { return k.prefix + "beats" }

// Deaths is the hash of the workers that a flight was in the air with when they died.
func (k Keys) Deaths() string { return k.prefix + "deaths" }

// Solo is the lease under which suspects fly alone.
func (k Keys) Solo() string { return k.prefix + "solo" }

// Holding counts a gate's flights on hold by the second at which they are due.
func (k Keys) Holding(gate string) string { return k.prefix + "holding:" + gate }

// Charter is the hash of a run's books.
func (k Keys) Charter(gate, run string) string { return k.prefix + "charter:" + gate + "/" + run }

// Seats is the string of a run's seats, four bits each.
func (k Keys) Seats(gate, run string) string { return k.prefix + "seats:" + gate + "/" + run }

// Charters is a sorted set of gate/run; the score is when the books last moved after
// they were told, or 0.
func (k Keys) Charters() string { return k.prefix + "charters" }

// Watch is the hash of flights whose next settlement an operator looks after.
func (k Keys) Watch() string { return k.prefix + "watch" }

// Incidents is the hash of incidents by id; IncidentOrder sorts them by time.
func (k Keys) Incidents() string { return k.prefix + "incidents" }

// IncidentOrder is a sorted set of incident ids by the time they opened.
func (k Keys) IncidentOrder() string { return k.prefix + "incident-order" }

// Audit is the stream of operators' actions.
func (k Keys) Audit() string { return k.prefix + "audit" }

// Outbox is the hash of notifications that no hook has taken yet.
func (k Keys) Outbox() string { return k.prefix + "outbox" }

// Offers is the hash of what living processes remember after a loss.
func (k Keys) Offers() string { return k.prefix + "offers" }

// Replies is the hash of the last answer to each worker's lane, so that a call
// repeated after a lost reply gets the first answer.
func (k Keys) Replies() string { return k.prefix + "replies" }

// Lock is an operator's lock on a gate while flights are moved.
func (k Keys) Lock(gate string) string { return k.prefix + "lock:" + gate }

// Look is whoever looks at a gate's shelf ("parked", "rejected"): a string with an
// expiry, like a lock.
func (k Keys) Look(gate, shelf string) string { return k.prefix + "look:" + gate + ":" + shelf }
