// Package s3objects implements csvimport.Objects with Amazon S3 and compatible servers (LocalStack, gofakes3).
//
// It names every error and retries none: only the state machine retries.
package s3objects
