// Package top is the live view of tractionctl: airports and what stands behind
// them, looked at once a tick, and the three verbs that an operator needs at
// night.
//
// # Model
//
// The store and the broker own everything that is shown; this package has a
// picture of it, and says how old the picture is. At each tick one reading starts,
// unless the last one is still out: a slow broker makes the picture older, never
// the queue of questions longer. A reading runs beside the program and comes back
// as one message. What could not be read leaves the old picture standing, dimmed,
// with the word STALE and its age, until a reading succeeds.
//
// The verbs (reopen, pause, replay) are the governor's: one at a time, after a
// confirmation that names the scope as it was when the key was struck. If this
// process dies while one runs, the governor's promises hold: a reopen and a pause
// are one step in the store, a replay leaves each flight on its shelf or on its
// runway and can be run again. Whoever quits during a replay is asked, and is told
// what it had moved.
//
// # Parts
//
// Model is a value: Update gives the next one and View writes it, and neither does
// I/O. Options says where the data comes from and what time it is. Actions is the
// one table that decides what a key does, what the help says and what a read-only
// view leaves out. A panel is a piece of the picture with its age; a list is what
// a person moves through, and its selection is an id, so that it stays on what was
// selected however the rows are sorted; a table lays the rows out and writes the
// visible ones alone.
//
// # Text from outside
//
// Ids, reasons and evidence go through wire.Visible where they become a cell, a
// field or a message: nothing that a vendor says can move the cursor.
package top
