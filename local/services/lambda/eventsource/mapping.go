package eventsource

import (
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

// Settings are what requests say about a mapping. What is nil stays as it is, or is Lambda's default.
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

// CreateInput describes a mapping that is to be.
type CreateInput struct {
	Settings
	EventSourceArn   string
	StartingPosition string
	Tags             map[string]string
}

// UpdateInput changes a mapping.
type UpdateInput struct {
	Settings
	UUID string
}

// FilterCriteria say which records reach the function: those that one of the patterns matches.
type FilterCriteria struct{ Filters []Filter }

// Filter is a pattern of EventBridge's language over a record.
type Filter struct{ Pattern string }

// ScalingConfig bounds how many batches of a queue are under way at a time; 0 is no bound of its own.
type ScalingConfig struct {
	MaximumConcurrency int `json:",omitempty"`
}

// DestinationConfig says who is told of records of a stream that were given up: a queue or a topic.
type DestinationConfig struct{ OnFailure Destination }

// Destination is an ARN, or empty.
type Destination struct {
	Destination string `json:",omitempty"`
}

// MetricsConfig is kept and shown.
type MetricsConfig struct{ Metrics []string }

// Mapping is an event source mapping, as it is kept. It is never changed: whoever changes one makes a new one.
type Mapping struct {
	UUID             string
	Scope            aws.Scope
	EventSourceArn   string
	FunctionArn      string // with the qualifier that it was given
	StartingPosition string `json:",omitempty"`
	Enabled          bool
	LastModified     time.Time
	Tags             map[string]string `json:",omitempty"`

	BatchSize     int
	Window        int             // seconds
	Filters       *FilterCriteria `json:",omitempty"`
	ResponseTypes []string        `json:",omitempty"`
	Scaling       *ScalingConfig  `json:",omitempty"`
	Metrics       *MetricsConfig  `json:",omitempty"`
	KMSKeyArn     string          `json:",omitempty"`

	// Those of streams. -1 is no bound.
	Parallelization int    `json:",omitempty"`
	OnFailure       string `json:",omitempty"`
	MaxAge          int    `json:",omitempty"` // seconds
	MaxRetries      int    `json:",omitempty"`
	Bisect          bool   `json:",omitempty"`
}

// ARN is that of the mapping.
func (m *Mapping) ARN() string { return m.Scope.ARN("lambda", "event-source-mapping:"+m.UUID) }

// ofStream reports whether the mapping reads a stream rather than a queue.
func (m *Mapping) ofStream() bool { return m.StartingPosition != "" }

// reportsItems reports whether the function says which items of a batch have failed.
func (m *Mapping) reportsItems() bool {
	for _, t := range m.ResponseTypes {
		if t == reportItems {
			return true
		}
	}
	return false
}

const reportItems = "ReportBatchItemFailures"

// The states of mappings in answers.
const (
	creating = "Creating"
	updating = "Updating"
	deleting = "Deleting"
	enabled  = "Enabled"
	disabled = "Disabled"
)

// state is what a mapping is when nothing is being done with it.
func (m *Mapping) state() string {
	if m.Enabled {
		return enabled
	}
	return disabled
}

// Configuration is a mapping as the API shows it (EventSourceMappingConfiguration in Lambda's model).
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

// shown is a mapping in a state.
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
