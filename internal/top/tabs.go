package top

// tab is one of the tables.
type tab uint8

// The tables. Gates are those of an airport; the others are those of an airport
// or of one gate.
const (
	tabAirports tab = iota
	tabGates
	tabIncidents
	tabParked
	tabCharters
)

// table says what a tab shows, beside its entries.
type table struct {
	name    string
	columns []column
	orders  []string // what s goes through; keys of an entry are in this order
	empty   string   // what stands where there is nothing
}

// Columns are narrow enough that what decides fits 80 cells; what is dropped is
// in the record.
var tables = map[tab]table{
	tabAirports: {
		name: "airports",
		columns: []column{
			{name: "AIRPORT", width: 12, flex: true, most: 24},
			{name: "STATE", width: 11},
			{name: "SINCE", width: 6, drop: 7},
			{name: "RUNWAY", width: 7, right: true},
			{name: "AIR", width: 3, right: true, drop: 5},
			{name: "LANDED/S", width: 8, drop: 3},
			{name: "", width: 5, right: true, drop: 6},
			{name: "HOLD", width: 5, right: true, drop: 4},
			{name: "PARKED", width: 6, right: true},
			{name: "DRAIN", width: 6, right: true, drop: 2},
			{name: "WORKERS", width: 7, right: true, drop: 9},
			{name: "SLOTS", width: 12, drop: 10},
			{name: "WHY", width: 12, flex: true, drop: 8},
		},
		orders: []string{"state", "runway", "parked", "landed", "name"},
		empty:  "no airport is declared here yet: a worker declares its airports when it starts",
	},
	tabGates: {
		name: "gates",
		columns: []column{
			{name: "GATE", width: 12, flex: true, most: 24},
			{name: "STATE", width: 11},
			{name: "SINCE", width: 6, drop: 7},
			{name: "RUNWAY", width: 7, right: true},
			{name: "AIR", width: 3, right: true, drop: 5},
			{name: "LANDED/S", width: 8, drop: 3},
			{name: "", width: 5, right: true, drop: 6},
			{name: "HOLD", width: 5, right: true, drop: 4},
			{name: "PARKED", width: 6, right: true},
			{name: "DRAIN", width: 6, right: true, drop: 2},
			{name: "REJECTED", width: 8, right: true, drop: 10},
			{name: "WORKERS", width: 7, right: true, drop: 9},
			{name: "WHY", width: 12, flex: true, drop: 8},
		},
		orders: []string{"state", "runway", "parked", "landed", "name"},
		empty:  "this airport has no gate",
	},
	tabIncidents: {
		name: "incidents",
		columns: []column{
			{name: "OPENED", width: 6},
			{name: "STATE", width: 6},
			{name: "KIND", width: 12},
			{name: "SCOPE", width: 12, flex: true},
			{name: "FAULTS", width: 6, right: true, drop: 2},
			{name: "ENDED BY", width: 12, flex: true, drop: 3},
			{name: "WHY", width: 16, flex: true, drop: 1},
		},
		orders: []string{"open", "newest", "kind"},
		empty:  "no incident",
	},
	tabParked: {
		name: "parked",
		columns: []column{
			{name: "PARKED", width: 6},
			{name: "FLIGHT", width: 16, flex: true, most: 36},
			{name: "BUSINESS ID", width: 11, flex: true, drop: 2},
			{name: "GATE", width: 8, flex: true, drop: 3},
			{name: "REASON", width: 14},
			{name: "EVIDENCE", width: 12, flex: true, drop: 1},
		},
		orders: []string{"oldest", "newest", "reason"},
		empty:  "no flight is parked",
	},
	tabCharters: {
		name: "charters",
		columns: []column{
			{name: "CHARTER", width: 16, flex: true, most: 40},
			{name: "STATE", width: 8},
			{name: "LANDED", width: 10, right: true},
			{name: "OF", width: 10, right: true},
			{name: "", width: 4, right: true},
			{name: "PARKED", width: 6, right: true, drop: 2},
			{name: "REJECTED", width: 8, right: true, drop: 3},
			{name: "ETA", width: 6, right: true, drop: 1},
			{name: "PROGRESS", width: 20, drop: 4},
		},
		orders: []string{"open", "name", "parked"},
		empty:  "no charter: tractionctl dispatch --charter opens one",
	},
}

// below gives the tabs of a scope, in their order.
func below(scope string, gate bool) []tab {
	switch {
	case scope == "":
		return []tab{tabAirports}
	case gate:
		return []tab{tabIncidents, tabParked, tabCharters}
	}
	return []tab{tabGates, tabIncidents, tabParked, tabCharters}
}
