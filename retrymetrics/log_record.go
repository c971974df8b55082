package retrymetrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"stepback/engine/history"
)

// Record holds the required fields of one event that Step Functions wrote to CloudWatch Logs. Execution data (inputs
// and outputs) is not required, so the log may omit it.
type Record struct {
	Execution    string // ARN
	ID, Previous int64
	Type         history.Type
	Time         int64 // nanoseconds since 1970, with a resolution of milliseconds
	Name         string
	Error        string
	// Resource and ResourceType are those of a Scheduled event.
	Resource, ResourceType string
}

// ParseRecord parses a log record: one JSON object per event, with numbers as strings. An unknown event type becomes
// [history.Unknown], which is not counted.
func ParseRecord(text []byte) (Record, error) {
	var j struct {
		ID       int64  `json:"id,string"`
		Type     string `json:"type"`
		Previous int64  `json:"previous_event_id,string"`
		Millis   int64  `json:"event_timestamp,string"`
		ARN      string `json:"execution_arn"`
		Details  struct {
			Name         string `json:"name"`
			Error        string `json:"error"`
			Resource     string `json:"resource"`
			ResourceType string `json:"resourceType"`
		} `json:"details"`
	}
	if err := json.Unmarshal(text, &j); err != nil {
		return Record{}, fmt.Errorf("log record of Step Functions: %w", err)
	}
	if j.ARN == "" || j.ID < 1 {
		return Record{}, errors.New("log record of Step Functions: it lacks execution_arn or id; the log group must be the state machine's own")
	}
	return Record{
		Execution: j.ARN, ID: j.ID, Previous: j.Previous, Type: history.TypeNamed(j.Type),
		Time: j.Millis * int64(time.Millisecond),
		Name: j.Details.Name, Error: j.Details.Error,
		Resource: j.Details.Resource, ResourceType: j.Details.ResourceType,
	}, nil
}
