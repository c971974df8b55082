// Package terminal reads and prints for the verbs: streams, tables, colours, paths and numbers as a user types and sees
// them, and errors in words.
//
// A verb reads and writes only the Streams that it receives.
package terminal
