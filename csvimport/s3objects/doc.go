// Package s3objects implements csvimport.Objects with Amazon S3 and compatible servers (LocalStack, stepback serve).
//
// It names every error and retries no request: only the state machine retries. A file whose connection breaks is read
// on by range (package rangedbody).
package s3objects
