// Package expand fills ${NAME} and ${file:path} into configuration text.
//
// # The model
//
// A text is parsed once ([Parse]): environment variables are read then and never
// again, since a process's environment does not change under it. A file is read
// then too, and looked at again at each [Text.Get], because mounted secrets are
// rotated while a worker runs: when its identity, size or time changed it is read
// anew, and what it held before is kept where it cannot be read at that moment or
// holds nothing. A rotation that is half done therefore costs one refused call at
// most, never a call without a credential.
//
// $${ stands for ${ itself. There are no defaults and no nesting: a name that is
// not set is an error, so a worker never starts with half a URL.
//
// A *Text may be used from any goroutine.
package expand
