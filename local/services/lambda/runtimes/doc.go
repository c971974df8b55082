// Package runtimes determines how a function of each Lambda runtime is started on this machine: provided.* with its
// own bootstrap, python3.* and nodejs* with the installed interpreter and a small embedded runtime client.
//
// Packages fetches the SDKs that AWS's runtimes include when a function first needs one.
//
// The package starts no functions. It only asks interpreters for their path and version.
package runtimes
