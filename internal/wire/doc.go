// Package wire is the contract between Traction's processes: the names of
// queues, exchanges, headers and keys, the JSON that travels or is stored, what
// makes an id valid, and how untrusted text is made safe to show.
//
// Every word of the contract stands here once. Any data plane that keeps it can
// be governed, whatever it is written in; docs/wire.md is the public form, and a
// golden test holds this package to it.
//
// The package does no I/O. Values are plain and may be used from any goroutine.
//
// # Versions
//
// Readers ignore fields they do not know; forms only gain fields. What cannot be
// read is an error ([MalformedError]), never a zero: a counter that silently
// starts again retries for ever.
package wire
