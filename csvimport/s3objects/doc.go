// Package s3objects is csvimport.Objects over Amazon S3 and what speaks its protocol (LocalStack, gofakes3).
//
// It names every error and retries none: the state machine is the one layer that retries.
package s3objects
