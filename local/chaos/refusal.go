package chaos

import (
	"fmt"
	"net/http"

	"stepback/aws"
	"stepback/aws/model"
)

// commonErrors are errors that every service may return although its model does not have them, with their statuses and
// messages.
var commonErrors = map[string]aws.Error{
	"AccessDeniedException":       {Status: http.StatusBadRequest, Message: "User is not authorized to perform this action"},
	"ExpiredTokenException":       {Status: http.StatusForbidden, Message: "The security token included in the request is expired"},
	"InternalFailure":             {Status: http.StatusInternalServerError, Message: internalMessage},
	"InternalServerError":         {Status: http.StatusInternalServerError, Message: internalMessage},
	"InternalError":               {Status: http.StatusInternalServerError, Message: internalMessage},
	"RequestTimeout":              {Status: http.StatusRequestTimeout, Message: "Your socket connection to the server was not read from or written to within the timeout period."},
	"ServiceUnavailable":          {Status: http.StatusServiceUnavailable, Message: unavailableMessage},
	"SlowDown":                    {Status: http.StatusServiceUnavailable, Message: "Please reduce your request rate."},
	"Throttling":                  {Status: http.StatusBadRequest, Message: rateMessage},
	"ThrottlingException":         {Status: http.StatusBadRequest, Message: rateMessage},
	"TooManyRequestsException":    {Status: http.StatusTooManyRequests, Message: rateMessage},
	"UnrecognizedClientException": {Status: http.StatusForbidden, Message: "The security token included in the request is invalid."},
}

const (
	internalMessage    = "The request processing has failed because of an internal error."
	unavailableMessage = "The request has failed due to a temporary failure of the server."
	rateMessage        = "Rate exceeded"
)

// throttles lists the errors that services use for throttling. Errors of a single operation come before those of
// all operations. SDKs retry each of them.
var throttles = []string{"ProvisionedThroughputExceededException", "TooManyRequestsException", "RequestThrottled",
	"ThrottlingException", "ThrottledException", "RequestLimitExceeded"}

// refusal returns the error of a fault for an operation.
func (f *fault) refusal(service *model.Service, operation string) *aws.Error {
	code := f.spec.Error
	switch code {
	case Throttle:
		code = throttleOf(service, operation)
	case Unavailable:
		code = "ServiceUnavailable"
	}
	e, ok := commonErrors[code]
	if !ok {
		e = aws.Error{Message: "Injected fault"}
	}
	if f.spec.Error == Throttle {
		e.Message = rateMessage
	}
	if shape := service.Exception(code); shape != nil {
		e.Status = 0 // use the model's
	}
	e.Code, e.Message = code, fmt.Sprintf("%s (injected by fault %d of stepback chaos)", e.Message, f.id)
	return &e
}

// throttleOf returns the error with which a service throttles an operation.
func throttleOf(service *model.Service, operation string) string {
	if o, err := service.Operation(operation); err == nil {
		for _, code := range throttles {
			for _, e := range o.Errors {
				if e.Name == code {
					return code
				}
			}
		}
	}
	switch {
	case service.Name == "s3":
		return "SlowDown"
	case service.Name == "lambda":
		return "TooManyRequestsException"
	case service.Speaks(model.Query) && !service.Speaks(model.JSON):
		return "Throttling"
	default:
		return "ThrottlingException"
	}
}

// retryable reports whether the response tells the client when to retry.
func retryable(e *aws.Error) bool {
	switch e.Code {
	case "Throttling", "SlowDown", "ServiceUnavailable":
		return true
	}
	for _, code := range throttles {
		if e.Code == code {
			return true
		}
	}
	return e.Status >= http.StatusInternalServerError
}

// statusOf returns the HTTP status of an error in the service's model; 0 if the model does not have it.
func statusOf(service, code string) int {
	m, err := model.Find(service)
	if err != nil {
		return 0
	}
	if shape := m.Exception(code); shape != nil {
		return shape.Error.Status
	}
	return 0
}
