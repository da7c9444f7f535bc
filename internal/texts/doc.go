// Package texts holds the pages that people read to what the programs do: links
// lead somewhere, commands exist, every key of the worker's file is described,
// the examples are accepted, and the rights that are said to be enough are
// enough. It has tests only.
//
// The tests read files of the tree and, for the rights, start a broker of their
// own. They write nothing and own nothing.
package texts
