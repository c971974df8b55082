package model

import (
	"fmt"
	"strings"
)

// UnknownServiceError reports that there is no service with this name.
type UnknownServiceError struct {
	Name string
	// Similar lists names that the caller may have meant, the most likely first.
	Similar []string
}

// Error implements error.
func (e *UnknownServiceError) Error() string {
	return fmt.Sprintf("there is no AWS service %q%s", e.Name, didYouMean(e.Similar))
}

// UnknownOperationError reports that a service has no operation with this name.
type UnknownOperationError struct {
	Service, Name string
	// Similar lists names that the caller may have meant, the most likely first.
	Similar []string
}

// Error implements error.
func (e *UnknownOperationError) Error() string {
	return fmt.Sprintf("the service %s has no operation %q%s", e.Service, e.Name, didYouMean(e.Similar))
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}
