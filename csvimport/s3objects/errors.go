package s3objects

import (
	"context"
	"errors"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"

	"stepback/csvimport"
	"stepback/retry"
	"stepback/statemachine"
)

// Failure converts an error of S3 to a *csvimport.Failure. what names the object, and doing,
// such as "list the imports of", is the verb before it. An error that has a *csvimport.Failure is returned unchanged.
func Failure(doing, what string, err error) error {
	var f *csvimport.Failure
	if errors.As(err, &f) {
		return err
	}
	return failure(doing, what, err)
}

// failure converts an S3 error to a Failure. The name is determined by the error's code, or else by its HTTP
// status, or else by the network's error.
func failure(doing, what string, err error) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		if f := byCode(what, api.ErrorCode()); f != nil {
			f.Err = err
			return f
		}
	}
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) && response.HTTPStatusCode() != 0 { // 0 means that there was no response
		if f := byStatus(what, response.HTTPStatusCode()); f != nil {
			f.Err = err
			return f
		}
		return csvimport.Fail(retry.RetryNotWorthwhile, "S3 refuses to %s %s: %w", doing, what, err)
	}
	return csvimport.Fail(nameOfNetworkError(err), "cannot %s %s: %w", doing, what, err)
}

func byCode(what, code string) *csvimport.Failure {
	switch code {
	case "NoSuchKey", "NotFound":
		return csvimport.Fail(statemachine.CSVFileNotFound,
			"%s does not exist (any more): check the key, or upload the file again", what)
	case "NoSuchBucket":
		return csvimport.Fail(statemachine.CSVFileNotFound,
			"%s: there is no such bucket: check the bucket's name and region", what)
	case "PreconditionFailed":
		return changed(what)
	case "AccessDenied", "AllAccessDisabled", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken",
		"InvalidObjectState":
		return csvimport.Fail(retry.AccessDenied,
			"%s: S3 answers %s: check the credentials and the permissions s3:GetObject, s3:PutObject and s3:ListBucket (without the last, a missing object looks like this too)", what, code)
	case "SlowDown", "RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequests":
		return csvimport.Fail(retry.S3SlowDown, "%s: S3 answers %s: too many requests for this prefix", what,
			code)
	case "ServiceUnavailable", "OperationAborted", "ConditionalRequestConflict":
		return csvimport.Fail(retry.S3ServiceUnavailable, "%s: S3 answers %s", what, code)
	case "InternalError":
		return csvimport.Fail(retry.S3InternalError, "%s: S3 answers %s", what, code)
	case "RequestTimeout", "RequestTimeoutException":
		return csvimport.Fail(retry.TimeoutError, "%s: S3 answers %s: the request took too long to arrive",
			what, code)
	}
	return nil
}

func byStatus(what string, status int) *csvimport.Failure {
	switch {
	case status == 401 || status == 403:
		return byCode(what, "AccessDenied")
	case status == 404:
		return byCode(what, "NotFound")
	case status == 412:
		return changed(what)
	case status == 408:
		return byCode(what, "RequestTimeout")
	case status == 429:
		return byCode(what, "SlowDown")
	case status == 503:
		return byCode(what, "ServiceUnavailable")
	case status >= 500:
		return byCode(what, "InternalError")
	}
	return nil
}

func changed(what string) *csvimport.Failure {
	return csvimport.Fail(statemachine.CSVFileChanged,
		"%s was replaced after the event that started this execution: the newer version starts an execution of its own",
		what)
}

// nameOfNetworkError returns the error name for a request that got no response or only part of one.
func nameOfNetworkError(err error) string {
	var signing *v4.SigningError
	switch {
	case errors.As(err, &signing): // no credentials
		return retry.AccessDenied
	case errors.Is(err, context.Canceled): // the invocation ends: repeating the request is safe
		return retry.TimeoutError
	}
	if c, ok := retry.Classify(err); ok {
		return c.Error
	}
	return retry.SocketTimeoutError
}
