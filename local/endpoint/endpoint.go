package endpoint

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"stepback/aws/model"
)

// ControlPath is where the programs of this project talk to a platform.
const ControlPath = "/_stepback/control"

// Handler serves the services at one address.
type Handler struct {
	// StepFunctions, Lambda, S3, Logs, SNS, SQS and STS serve the services; Logs is CloudWatch Logs.
	StepFunctions, Lambda, S3, Logs, SNS, SQS, STS http.Handler
	// Control answers requests for ControlPath, which are no service's; nil means that there is none.
	Control http.Handler
	// Hosts are the names by which the address may be called besides those of the loopback interface; "*" allows any.
	Hosts []string
	// Health answers requests for HealthPath.
	Health Health
	// Log is told of every request that is handed on, at level Info; nil means nobody is.
	Log *slog.Logger
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if reason := h.refusal(r); reason != "" {
		refuse(w, r, http.StatusForbidden, "AccessDeniedException", reason)
		return
	}
	if r.URL.Path == HealthPath || r.URL.Path == LocalStackHealthPath {
		h.Health.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == ControlPath && h.Control != nil {
		h.Control.ServeHTTP(w, r)
		return
	}
	switch service := serviceOf(r); service {
	case "states":
		h.logged(service, h.StepFunctions, w, r)
	case "lambda":
		h.logged(service, h.Lambda, w, r)
	case "logs":
		h.logged(service, h.Logs, w, r)
	case "sns":
		h.logged(service, h.SNS, w, r)
	case "sqs":
		h.logged(service, h.SQS, w, r)
	case "sts":
		h.logged(service, h.STS, w, r)
	case "s3":
		h.logged(service, h.S3, w, pathStyle(r))
	default:
		refuse(w, r, http.StatusNotImplemented, "NotImplementedException", unserved(service))
	}
}

// unserved says that a service is not here, and by which variables clients find it elsewhere: several where services
// share the name in their signatures.
func unserved(service string) string {
	const where = "The service %s is not served at this address, which has Step Functions, Lambda, S3, CloudWatch Logs, SNS, SQS and STS. "
	ids := model.Signed(service)
	if len(ids) == 0 {
		return fmt.Sprintf(where+"Set the client's AWS_ENDPOINT_URL_ variable of that service to where it is.", service)
	}
	variables := make([]string, len(ids))
	for i, id := range ids {
		variables[i] = model.EndpointVariable(id)
	}
	return fmt.Sprintf(where+"Set %s for the client to where it is.", service, strings.Join(variables, " or "))
}
