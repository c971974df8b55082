package retrypatterns

import (
	"encoding/json"
	"time"

	"stepback/retry"
)

// MarshalJSON implements json.Marshaler. Durations are in seconds, and names are lowerCamel. The retrier is written
// as in a definition, with AWS's names.
func (r RetrierExplanation) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Retrier    Retrier      `json:"retrier"`
		Provenance Provenance   `json:"provenance,omitempty"`
		Retries    int          `json:"retries"`
		Waits      []retry.Wait `json:"waits"`
		Total      retry.Wait   `json:"total"`
		Longest    float64      `json:"longestSeconds"`
	}{r.Retrier, r.Provenance, r.Schedule.Retries, append([]retry.Wait{}, r.Schedule.Waits...), r.Schedule.Total,
		r.Longest.Seconds()})
}

// MarshalJSON implements json.Marshaler. Durations are in seconds, and names are lowerCamel.
func (e Explanation) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		State     string               `json:"state"`
		Timeout   float64              `json:"timeoutSeconds,omitempty"`
		Heartbeat float64              `json:"heartbeatSeconds,omitempty"`
		Retriers  []RetrierExplanation `json:"retriers"`
		Retries   int                  `json:"retries"`
		Wait      retry.Wait           `json:"wait"`
		Longest   float64              `json:"longestSeconds,omitempty"`
		Layers    []Layer              `json:"layers,omitempty"`
		Notes     []Note               `json:"notes"`
	}{e.State, e.Timeout.Seconds(), e.Heartbeat.Seconds(), append([]RetrierExplanation{}, e.Retriers...), e.Retries,
		e.Wait, bound(e.Longest, e.Timeout), e.Layers, append([]Note{}, e.Notes...)})
}

// bound returns a state's maximum duration in seconds; 0 if its attempts have no timeout, because it is then unknown.
func bound(longest, timeout time.Duration) float64 {
	if timeout == 0 {
		return 0
	}
	return longest.Seconds()
}
