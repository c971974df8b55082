// Package pipeline is the CSV import on one machine: it deploys the import's buckets, topic, functions and state
// machine to a platform (package local), whose services show them like all others. A file is put into the input bucket,
// its Object Created event starts the execution, and what comes back is the same report whether the run was just made
// or made earlier. It contains no rule of the import itself; those are in csvimport and statemachine.
package pipeline
