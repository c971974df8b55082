package eventsource

import (
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

// Settings holds the settings in requests about a mapping. A nil value leaves the setting unchanged, or means
// Lambda's default.
type Settings struct {
	FunctionName                   string
	Enabled                        *bool
	BatchSize                      *int
	MaximumBatchingWindowInSeconds *int
	FilterCriteria                 *FilterCriteria
	FunctionResponseTypes          []string
	ScalingConfig                  *ScalingConfig
	ParallelizationFactor          *int
	DestinationConfig              *DestinationConfig
	MaximumRecordAgeInSeconds      *int
	MaximumRetryAttempts           *int
	BisectBatchOnFunctionError     *bool
	TumblingWindowInSeconds        *int
	KMSKeyArn                      *string
	MetricsConfig                  *MetricsConfig
}

// CreateInput describes a mapping to create.
type CreateInput struct {
	Settings
	EventSourceArn   string
	StartingPosition string
	Tags             map[string]string
}

// UpdateInput describes a change to a mapping.
type UpdateInput struct {
	Settings
	UUID string
}

// FilterCriteria selects the records that are passed to the function: those that match at least one of the
// patterns.
type FilterCriteria struct{ Filters []Filter }

// Filter is an EventBridge pattern matched against a record.
type Filter struct{ Pattern string }

// ScalingConfig limits the number of concurrent batches of a queue; 0 means no separate limit.
type ScalingConfig struct {
	MaximumConcurrency int `json:",omitempty"`
}

// DestinationConfig names the queue or topic that is notified of stream records that were given up.
type DestinationConfig struct{ OnFailure Destination }

// Destination is an ARN; it may be empty.
type Destination struct {
	Destination string `json:",omitempty"`
}

// MetricsConfig is stored and returned, but has no effect.
type MetricsConfig struct{ Metrics []string }

// Mapping is an event source mapping as it is stored. It is immutable: a change creates a new one.
type Mapping struct {
	UUID             string
	Scope            aws.Scope
	EventSourceArn   string
	FunctionArn      string // with the qualifier of the request
	StartingPosition string `json:",omitempty"`
	Enabled          bool
	LastModified     time.Time
	Tags             map[string]string `json:",omitempty"`

	BatchSize     int
	Window        int             // in seconds
	Filters       *FilterCriteria `json:",omitempty"`
	ResponseTypes []string        `json:",omitempty"`
	Scaling       *ScalingConfig  `json:",omitempty"`
	Metrics       *MetricsConfig  `json:",omitempty"`
	KMSKeyArn     string          `json:",omitempty"`

	// For streams only. -1 means no limit.
	Parallelization int    `json:",omitempty"`
	OnFailure       string `json:",omitempty"`
	MaxAge          int    `json:",omitempty"` // in seconds
	MaxRetries      int    `json:",omitempty"`
	Bisect          bool   `json:",omitempty"`
}

// ARN returns the ARN of the mapping.
func (m *Mapping) ARN() string { return m.Scope.ARN("lambda", "event-source-mapping:"+m.UUID) }

// ofStream reports whether the mapping reads a stream rather than a queue.
func (m *Mapping) ofStream() bool { return m.StartingPosition != "" }

// reportsItems reports whether the function's response lists the items of a batch that have failed.
func (m *Mapping) reportsItems() bool {
	for _, t := range m.ResponseTypes {
		if t == reportItems {
			return true
		}
	}
	return false
}

const reportItems = "ReportBatchItemFailures"

// The states of mappings in responses.
const (
	creating = "Creating"
	updating = "Updating"
	deleting = "Deleting"
	enabled  = "Enabled"
	disabled = "Disabled"
)

// state returns the state of a mapping that is not being changed.
func (m *Mapping) state() string {
	if m.Enabled {
		return enabled
	}
	return disabled
}

// Configuration is a mapping as the API returns it (EventSourceMappingConfiguration in Lambda's model).
type Configuration struct {
	UUID                           string
	EventSourceMappingArn          string
	EventSourceArn                 string
	FunctionArn                    string
	BatchSize                      int
	MaximumBatchingWindowInSeconds int
	LastModified                   server.Time
	State                          string
	StateTransitionReason          string
	FunctionResponseTypes          []string
	FilterCriteria                 *FilterCriteria    `json:",omitempty"`
	ScalingConfig                  *ScalingConfig     `json:",omitempty"`
	MetricsConfig                  *MetricsConfig     `json:",omitempty"`
	KMSKeyArn                      string             `json:",omitempty"`
	StartingPosition               string             `json:",omitempty"`
	LastProcessingResult           string             `json:",omitempty"`
	ParallelizationFactor          *int               `json:",omitempty"`
	DestinationConfig              *DestinationConfig `json:",omitempty"`
	MaximumRecordAgeInSeconds      *int               `json:",omitempty"`
	MaximumRetryAttempts           *int               `json:",omitempty"`
	BisectBatchOnFunctionError     *bool              `json:",omitempty"`
	TumblingWindowInSeconds        *int               `json:",omitempty"`
}

// shown returns the API form of a mapping in the given state.
func (m *Mapping) shown(state, lastResult string) *Configuration {
	c := &Configuration{UUID: m.UUID, EventSourceMappingArn: m.ARN(), EventSourceArn: m.EventSourceArn,
		FunctionArn: m.FunctionArn, BatchSize: m.BatchSize, MaximumBatchingWindowInSeconds: m.Window,
		LastModified: server.Time(m.LastModified), State: state, StateTransitionReason: "USER_INITIATED",
		FunctionResponseTypes: m.ResponseTypes, FilterCriteria: m.Filters, ScalingConfig: m.Scaling,
		MetricsConfig: m.Metrics, KMSKeyArn: m.KMSKeyArn}
	if c.FunctionResponseTypes == nil {
		c.FunctionResponseTypes = []string{}
	}
	if m.ofStream() {
		none := 0
		c.StateTransitionReason = "User action"
		c.StartingPosition, c.LastProcessingResult = m.StartingPosition, lastResult
		c.ParallelizationFactor, c.DestinationConfig = &m.Parallelization, &DestinationConfig{Destination{m.OnFailure}}
		c.MaximumRecordAgeInSeconds, c.MaximumRetryAttempts = &m.MaxAge, &m.MaxRetries
		c.BisectBatchOnFunctionError, c.TumblingWindowInSeconds = &m.Bisect, &none
	}
	return c
}
