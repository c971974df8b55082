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

// Health lists the services and their states, "running" or "degraded":
// {"services": {"s3": "running"}, "version": "…"}. A degraded service reads and deletes, but its store does not accept
// anything new.
type Health struct {
	Services map[string]string `json:"services"`
	// Stores are the reasons why stores of the data directory do not accept anything new, by the name of their folder.
	Stores map[string]string `json:"stores,omitempty"`
	// Ephemeral is true if all data are gone when the process ends.
	Ephemeral bool   `json:"ephemeral,omitempty"`
	Version   string `json:"version"`
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
