// Package pipeline runs the CSV import on one machine. It deploys the import's buckets, topic, functions and state
// machine to a platform (package local), whose services treat them like all others. To import a file, it puts the
// file into the input bucket; the bucket's Object Created event starts the execution. The report of an earlier run
// has the same form as that of a new one. The package contains no rule of the import itself; those are in csvimport
// and statemachine.
package pipeline
