// Package local is AWS on one machine, as far as state machines need it: Open puts Step Functions over engines with a
// journal, Lambda, S3, SNS, CloudWatch Logs and STS over one data directory, injects faults, counts retries, and serves
// everything at one address of the loopback interface. The commands run, serve and exec stand on it, and so can any Go
// program.
//
// One process at a time has a data directory open. It writes into the directory where it can be reached, so that others
// can become its clients (see InUseError).
//
// The package knows no state machine and no function of its own, and prints nothing.
package local

//go:generate go test . -run TestDocsAreCurrent -update
