// Package rehearse flies a worker's configuration through everything that can become
// of a flight, before a change meets the real thing: on the given broker and store, in
// a namespace of its own that is gone afterwards.
//
// # The model
//
// [Run] takes the airports as a configuration declares them and makes two of them:
//
//   - the exact ones, with their own holds, slots, modes and streaks. A worker declares
//     them, and another one declares them again, as at the next deploy. Nothing flies.
//   - the rehearsed ones, with the same gates, on_stop, rejected and adopt, and with time
//     scaled (plan.go): short holds and slot windows, every airport in mode enforce, and
//     no streak that would stop a step for what is not its subject.
//
// Neither calls what the configuration calls: every pilot is the book (book.go), which
// knows each payload that was sent, what its calls answer, and how often it landed, and
// at which gate. For an adopted queue a stand-in is declared with the type and the
// arguments that the broker says the real one has (arguments.go).
//
// The steps (steps.go) are a list. Each sends flights or acts as an operator would, by
// the code that tractionctl runs, and says what must have become of everything so far:
// the tally of each gate (tally.go). It ends when that is seen, or when nothing has
// changed for a while. The first step that fails ends the flying; what follows is not
// tried. The report is plain values; a command prints it.
//
// # Whose data it is
//
// A namespace in which anything stands is refused. From then on the run owns it
// (package throwaway) and removes it: after the last step, after a failure, and when its
// context ends. What cannot be removed is named in the report. A process that is killed
// leaves a namespace called rehearse-<eight digits>, which nothing else uses.
//
// Two things outside of the namespace are looked at, and left as they are: the
// topology that stands in the configuration's own namespace is compared with what the
// configuration wants, as `doctor -c` does, and each adopted queue is asked for its
// arguments. Both ask by declaring what stands already; a queue that somebody deletes
// in the same moment may be declared again. No message of theirs is touched.
package rehearse
