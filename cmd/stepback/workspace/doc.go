// Package workspace opens what verbs work on: data directories with their journals and platforms, and clients of
// running servers and of AWS.
//
// One process has a data directory open. A verb of a second process is sent to the first one and runs there: see
// DirectoryVerb.
package workspace
