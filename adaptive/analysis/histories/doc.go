// Package histories reads the histories of executions for retryanalysis: from the journal of a data directory
// ([Journal]), or from AWS Step Functions and whatever answers like it ([API]). It only reads.
package histories
