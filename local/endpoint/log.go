package endpoint

import (
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// logged hands a request on and logs what it was for and how it was answered, when anybody wants to know.
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

// operationOf is what a request asks for: the operation that its target names, or its method and path.
func operationOf(r *http.Request) string {
	if _, operation, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		return operation
	}
	return r.Method + " " + r.URL.Path
}

// answer notes the status of an answer.
type answer struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
