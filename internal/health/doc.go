// Package health serves what an orchestrator and a monitoring system ask of a
// worker: /healthz, /readyz and /metrics.
//
// # The model
//
// /healthz speaks of the process alone. It never fails for a broker, a store or a
// vendor, because restarting the process mends none of them; it fails when the
// pilots of a gate have all ignored the end of their calls, which a restart does
// mend. /readyz says whether the process takes part: it has started, reaches both
// services, knows the state of all it serves, and does not drain. A ground stop
// changes neither, since a stopped airport is not the worker's fault and its other
// airports fly on.
//
// /metrics is Prometheus text from a registry of its own. Labels are bounded by
// the configuration: airports, gates and fixed words, never a flight, a record or
// an incident.
//
// # Who owns what
//
// The server owns no state but its phase. What it tells is asked of a [Source]
// for each request: the process's own numbers, which are at hand, and the fleet's,
// which are read from the services and kept for a few seconds, so that scrapes
// cost the store the same however many there are. A process that dies loses its
// counters; Prometheus sees a reset.
package health
