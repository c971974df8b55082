// Package pipeline runs the CSV import on one machine. It deploys the import's buckets, topic, functions and state
// machine to a platform (package local), whose services treat them like all others. A file is put into the input
// bucket, its Object Created event starts the execution, and the report is the same whether the run was just made or
// made earlier. The package contains no rule of the import itself; those are in csvimport and statemachine.
package pipeline
