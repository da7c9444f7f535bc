// Package workercmd is the command line of traction-worker: run, check and
// version.
//
// # The model
//
// `run` reads the configuration before it touches anything, serves health and
// metrics, opens the governor, and flies until it is told to stop. Only a wrong
// configuration, or an address that is taken, ends it at the start: a broker that
// is away is waited for, with a WARN for each try, since a worker that restarts
// in a loop brings none back and hides who is at fault.
//
// # Stopping, in order
//
//  1. The first SIGTERM or SIGINT ends the run's context; /readyz fails from now on.
//  2. The governor clears nothing more, lets the flights in the air finish, up to
//     grace, and returns what it has in hand to the broker.
//  3. Its connections are closed, then the health server, then the pilots' idle
//     connections. The exit code is 0.
//
// A second signal ends the process at once, with 143 or 130, and the programs of exec
// gates with it. That is safe at any
// point: what was not acknowledged is the broker's, and flies again.
package workercmd
