// Package cli is tractionctl: noun, verb, scope.
//
// # Model
//
// A command reads its flags into an options struct, resolves where it acts
// (settings: flag, environment, context, default), opens the governor, calls one
// of its methods, and writes what came back. It owns nothing: what it shows is
// the store's and the broker's, what it changes is changed by the governor in one
// step, and a command that dies leaves nothing behind that has to be tidied up. A
// dispatch that dies in the middle has dispatched what the broker confirmed.
//
// # Layout
//
// A folder is a noun, a file is a verb: an options struct, newCmd(f, runF) and
// run(ctx, opts). runF replaces the running, so that parsing is tested without
// it; run takes what it needs of the governor through an interface of its own, so
// that it is tested without one. What nouns share: factory (streams, global
// flags, the governor), settings, form (the JSON), render (tables, times), advice
// (what to do next), exit (errors to exit codes), command (cobra's terms).
//
// # Output
//
// Data is written to stdout and everything else to stderr. Text from outside is
// a wire.Text or goes through wire.Visible before it is printed. Errors take at
// most three lines: what was tried, what happened, what to do next.
package cli
