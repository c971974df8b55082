package endpoint

import (
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// logged forwards a request and, if logging is enabled, logs its operation and the response's status.
func (h *Handler) logged(service string, to http.Handler, w http.ResponseWriter, r *http.Request) {
	if h.Log == nil || !h.Log.Enabled(r.Context(), slog.LevelInfo) {
		to.ServeHTTP(w, r)
		return
	}
	begun, a := time.Now(), &answer{ResponseWriter: w, status: http.StatusOK}
	to.ServeHTTP(a, r)
	h.Log.Info("request", "service", service, "operation", operationOf(r), "status", a.status, "took",
		time.Since(begun).Round(time.Microsecond))
}

// operationOf returns the operation of a request: the one that its target names, or its method and path.
func operationOf(r *http.Request) string {
	if _, operation, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		return operation
	}
	return r.Method + " " + r.URL.Path
}

// answer records the status of a response.
type answer struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap supports http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
