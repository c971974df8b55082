// Package runtimes knows how a function of each Lambda runtime is started on this machine: provided.* by its own
// bootstrap, python3.* and nodejs* by the interpreter that is installed here and a small runtime client, which is
// embedded.
//
// What AWS's runtimes bring along for functions, its SDKs, Packages fetches when a function first asks for it.
//
// It starts no function itself. Of the interpreters it asks only where they are and which version they have.
package runtimes
