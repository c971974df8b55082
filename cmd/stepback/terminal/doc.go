// Package terminal handles the input and output of the verbs: streams, tables, colours, paths and numbers in the
// form that users type and see, and readable errors.
//
// A verb reads and writes only the Streams that it receives.
package terminal
