package s3objects

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/smithy-go"
)

// Error is an S3 error, worded for use as the cause of a failed state.
type Error struct {
	Operation   string // "GetObject", …
	Bucket, Key string // Key is the prefix of a listing
	Code        string // S3's error code, for example "NoSuchKey"; empty if S3 was not reached
	Status      int    // HTTP status; 0 if S3 was not reached
	Message     string // S3's message
	Err         error  // the client's error
}

// Error implements error. The text starts with S3's message, as the causes of the real service do.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%s of s3://%s/%s failed: %v", e.Operation, e.Bucket, e.Key, e.Err)
	}
	text := fmt.Sprintf("%s (Service: S3, Status Code: %d, Error Code: %s, Operation: %s, Bucket: %s, Key: %s)",
		e.Message, e.Status, e.Code, e.Operation, e.Bucket, e.Key)
	if hint := advice[e.Code]; hint != "" {
		text += "; " + hint
	}
	return text
}

// Unwrap returns the client's error.
func (e *Error) Unwrap() error { return e.Err }

// advice maps error codes caused by configuration to what to do about them.
var advice = map[string]string{
	"NoSuchKey":          "check the Key, and that the object was uploaded before the state machine started",
	"NoSuchBucket":       "check the Bucket, and that it is in the same Region and account as the state machine",
	"NoSuchVersion":      "check the VersionId",
	"AccessDenied":       "allow the role s3:GetObject, s3:PutObject or s3:ListBucket on this bucket, and check ExpectedBucketOwner",
	"PreconditionFailed": "the object has been replaced while it was read",
	"PermanentRedirect":  "the bucket is in another Region; it must be in the state machine's",
}

// messages holds texts for responses that have none.
var messages = map[string]string{
	"NoSuchKey":    "The specified key does not exist.",
	"NoSuchBucket": "The specified bucket does not exist",
	"AccessDenied": "Access Denied",
}

func failure(ctx context.Context, operation, bucket, key string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &Error{Operation: operation, Bucket: bucket, Key: key, Err: err}
	var answered smithy.APIError
	if errors.As(err, &answered) {
		e.Code, e.Message = answered.ErrorCode(), answered.ErrorMessage()
	}
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		e.Status = response.HTTPStatusCode()
	}
	if e.Message == "" {
		e.Message = messages[e.Code]
	}
	return e
}
