package endpoint

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
)

// Handler serves the services at one address.
type Handler struct {
	// StepFunctions, Lambda, S3 and Logs serve the services; Logs is CloudWatch Logs.
	StepFunctions, Lambda, S3, Logs http.Handler
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
		refuse(w, http.StatusForbidden, "AccessDeniedException", reason)
		return
	}
	if r.URL.Path == HealthPath || r.URL.Path == LocalStackHealthPath {
		h.Health.ServeHTTP(w, r)
		return
	}
	switch service := serviceOf(r); service {
	case "states":
		h.logged(service, h.StepFunctions, w, r)
	case "lambda":
		h.logged(service, h.Lambda, w, r)
	case "logs":
		h.logged(service, h.Logs, w, r)
	case "s3":
		h.logged(service, h.S3, w, pathStyle(r))
	default:
		refuse(w, http.StatusNotImplemented, "NotImplementedException", unserved(service))
	}
}

func unserved(service string) string {
	name := strings.ToUpper(strings.ReplaceAll(service, "-", "_"))
	return "The service " + service + " is not served at this address, which has Step Functions, Lambda, S3 and CloudWatch Logs. " +
		"Set AWS_ENDPOINT_URL_" + name + " for the client to where it is."
}

// refuse answers with an error in the form that most clients of AWS read.
func refuse(w http.ResponseWriter, status int, code, message string) {
	body, err := json.Marshal(map[string]string{"__type": code, "message": message})
	if err != nil {
		body = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("X-Amzn-Errortype", code)
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone is nobody to tell
}
