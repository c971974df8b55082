// Package histories reads the histories of executions for retryanalysis: from the journal of a data directory
// ([Journal]), or from AWS Step Functions or a compatible endpoint ([API]). It never writes.
package histories
