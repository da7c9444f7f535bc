// Package scripttest runs the scripts of testdata/scripts against the real
// binaries, as an operator or CI would: each file is a txtar archive whose head
// is a list of commands (see rogpeppe/go-internal/testscript). It has tests only.
//
// Every folder below testdata/scripts is a suite, found by looking, and a folder
// without a script fails. The folder "services" needs a broker and a store and
// runs where TRACTION_TEST_SERVICES=1 is set; the others need neither and have
// closed ports for both.
//
// Beside testscript's commands there is
//
//	exits N program [args...]
//
// which runs the program and wants exactly the exit code N. `! exec` would take
// any failure, a panic too, for the one that is meant. The services have two more:
//
//	eventually PATTERN program [args...]
//	vendor answers STATUS [PATH] | refuses TEXT | takes DURATION | saw STATUS N
//
// The first runs the program until its stdout matches; the second steers the third
// party at $VENDOR that a script's workers call: what it answers, which payloads it
// refuses with 422, how long it takes, and how often it must have answered what.
package scripttest
