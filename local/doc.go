// Package local is AWS on one machine, as far as state machines need it. Open runs Step Functions (engines with a
// journal), Lambda, S3, SNS, CloudWatch Logs and STS on one data directory, injects faults, counts retries, and
// serves everything at one address of the loopback interface. The commands run, serve and exec are built on it, and
// any Go program can use it.
//
// Only one process at a time can have a data directory open. It writes its address into the directory, so that other
// processes can become its clients (see InUseError).
//
// The package defines no state machine or function itself, and prints nothing.
package local

//go:generate go test . -run TestDocsAreCurrent -update
