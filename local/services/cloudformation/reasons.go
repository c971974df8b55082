package cloudformation

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
)

// why returns a readable error: a service's own message, without its context.
func why(err error) string {
	var e smithy.APIError
	var a *aws.Error
	switch {
	case errors.As(err, &e):
		if e.ErrorMessage() == "" {
			return e.ErrorCode()
		}
		return e.ErrorMessage()
	case errors.As(err, &a):
		return a.Message
	}
	return err.Error()
}

// reasonOf returns the reason for a resource's failure as in its events.
func (d *deployment) reasonOf(r *record, err error) string {
	var p *resource.PropertyError
	var e smithy.APIError
	var t *template.Error
	var h *resource.HandlerError
	switch {
	case errors.Is(err, errTimeout), errors.Is(err, errCancelled), errors.Is(err, errUser):
		if r.Doing != doCreate {
			return "Resource update cancelled"
		}
		return errCancelled.Error()
	case errors.As(err, &p):
		return (&resource.PropertyError{LogicalID: r.ID, Type: r.Type, Problems: p.Problems}).Error()
	case errors.As(err, &t):
		return t.Message
	case errors.As(err, &h):
		return fmt.Sprintf("Resource handler returned message: \"%s\" (RequestToken: %s, HandlerErrorCode: %s)", h.Message,
			d.op.ID, h.Code)
	case errors.As(err, &e):
		return fmt.Sprintf("Resource handler returned message: \"%s (%s)\" (RequestToken: %s, HandlerErrorCode: %s)",
			why(err), e.ErrorCode(), d.op.ID, handlerCode(e.ErrorCode()))
	}
	return why(err)
}

// handlerCode maps an error code to the error code of CloudFormation's handlers.
func handlerCode(code string) string {
	switch {
	case strings.Contains(code, "AlreadyExists"), strings.Contains(code, "AlreadyOwned"):
		return "AlreadyExists"
	case strings.Contains(code, "NotFound"), strings.Contains(code, "NoSuch"), strings.Contains(code, "NonExistent"):
		return "NotFound"
	case strings.Contains(code, "AccessDenied"):
		return "AccessDenied"
	case strings.Contains(code, "Throttl"):
		return "Throttling"
	case strings.Contains(code, "LimitExceeded"):
		return "ServiceLimitExceeded"
	case strings.Contains(code, "Invalid"), strings.Contains(code, "Validation"):
		return "InvalidRequest"
	}
	return "GeneralServiceException"
}
