// Package jsonptr finds values in JSON by pointers (RFC 6901). It is pure: a body
// goes in, a value comes out, and what is not JSON or is not there has none.
package jsonptr
