package endpoint

import (
	"encoding/json"
	"net/http"
)

// The paths that report whether the services are running. Tools that wait for LocalStack use its path.
const (
	HealthPath           = "/_stepback/health"
	LocalStackHealthPath = "/_localstack/health"
)

// Health lists the services and their states: {"services": {"s3": "running"}, "version": "…"}.
type Health struct {
	Services map[string]string `json:"services"`
	Version  string            `json:"version"`
}

// ServeHTTP implements http.Handler.
func (h Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuse(w, r, http.StatusMethodNotAllowed, "MethodNotAllowed", "Use GET.")
		return
	}
	body, err := json.Marshal(h)
	if err != nil {
		refuse(w, r, http.StatusInternalServerError, "InternalFailure", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}
