// Package backup is the file that `queue backup` writes and `queue restore` reads,
// and the note beside it of what was restored already.
//
// # The file
//
// JSON Lines. The first line is the header: the format's version, an id that no
// other file has, the queue and the time. Each line after it is one message with its
// number from 1 and the CRC-32C of the message's JSON as it stands in the line. The
// last line, the trailer, has the count and the SHA-256 of everything before it. A
// file without its trailer is not a backup: it was cut off.
//
// Every AMQP value comes back as the type it was: header values carry their type,
// and text that is not valid UTF-8 stands as base64.
//
// # Who owns what, and what if the process dies there
//
// The writer fills a file under another name, which becomes the backup by a rename
// after it was synced: a process that dies before leaves no file that looks like a
// backup, and the messages are the broker's all along. The reader trusts nothing it
// has not checked.
//
// [Progress] is the file FILE.restored. A batch of records is noted there, synced,
// after the broker has confirmed all of it. A process that dies between the confirm
// and the note restores that batch again the next time: at least once, never less. One
// that is told to stop waits for the confirms and notes them first.
package backup
