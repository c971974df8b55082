// Package pipeline is the CSV import on one machine: the embedded S3, Lambda and SNS, the engine with its journal, and
// the state machine, wired together over a data directory. A file is put into the input bucket, its Object Created
// event starts the execution, and what comes back is the same report whether the run was just made or made earlier. It
// contains no rule of the import itself; those are in csvimport and statemachine.
package pipeline
