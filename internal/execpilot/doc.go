// Package execpilot runs one program for one flight and says how it ended. It is
// the mechanics below governor.Exec: processes, not meanings.
//
// # The model
//
// [Run] starts the program in a session and a process group of its own, with the
// payload on its stdin and exactly the environment it is given. stdout is
// discarded, of stderr the end is kept. Run returns when the program has ended and
// nothing that it left in its group is alive, however it ended: by itself, at its
// memory ceiling, or because the context did.
//
// # Who owns what
//
// The governor owns the flight; Run owns the program and its group. Until Run has
// ended the group, the program is not reaped, so its process id, and with it the
// group's, cannot come to mean somebody else's.
//
// # If the process dies right there
//
// On Linux the kernel kills the program with whoever started it: the thread that
// started it stays with it until its end, since that is what the kernel watches.
// What the program itself has started lives on if the worker is killed with
// SIGKILL; [KillAll] ends those too where the worker can still choose to. The
// flight is the broker's and flies again.
//
// # Memory
//
// The ceiling is watched rather than set as a limit: an address space limit breaks
// programs that reserve more than they use (Go, Java, Node), and a program that is
// refused memory exits with a code of its own, which would look like a verdict on
// the flight. What is counted is what the group has resident, shared pages once.
// Between two looks a program may overshoot; for that case the kernel is told to
// take the program before the worker when memory runs out.
package execpilot
