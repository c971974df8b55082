package dispatch

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
)

// judge returns the error code and the message for a dead letter, and whether a retry may help.
func judge(err error) (code, message string, again bool) {
	var refused *aws.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "TIMEOUT", err.Error(), true
	case !errors.As(err, &refused):
		return "INTERNAL_ERROR", err.Error(), true
	}
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(refused.Code, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("Throttl", "TooManyRequests", "LimitExceeded", "Unavailable"):
		return "THROTTLING", refused.Message, true
	case refused.ByServer():
		return "INTERNAL_ERROR", refused.Message, true
	case has("AccessDenied", "Authorization", "Forbidden"):
		return "NO_PERMISSIONS", refused.Message, false
	case has("NotFound", "NonExistent", "DoesNotExist", "Deleting"):
		return "NO_RESOURCE", refused.Message, false
	case has("Timeout"):
		return "TIMEOUT", refused.Message, true
	case has("Invalid", "Validation"):
		return "INVALID_PARAMETER", refused.Message, false
	}
	return "SDK_CLIENT_ERROR", refused.Message, false
}

// The conditions under which the dispatcher gives up a letter that could be retried.
const (
	byAge      = "MaximumEventAgeInSeconds"
	byAttempts = "MaximumRetryAttempts"
)
