// Package config reads the file that a worker without code of its own runs from:
// airports, gates and the HTTP calls or programs that fly them.
//
// # The model
//
// [Load] reads the file once, before anything is opened: a configuration is
// either whole or refused, with every problem found in it, each with its line,
// column and path. Nothing is ever ignored: an unknown key, a key twice, a key
// without a value and a key of a pilot this version does not fly are problems.
// A process that dies here has touched nothing.
//
// What is read becomes plain values ([Config]); [Config.Governor] and
// [Config.Declare] turn them into what the governor takes. After Load only
// secrets in headers and in environments are read again, when their file changes.
//
// Values may refer to the environment and to files (package expand). Problems
// quote a value as it is written, never what it stands for, and never a URL.
package config
