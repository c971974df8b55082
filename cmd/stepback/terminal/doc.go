// Package terminal has what verbs share to talk to a user: streams, tables, colours, paths and numbers as they are
// typed and shown, and errors in words.
//
// A verb reads and writes only the Streams that it receives.
package terminal
