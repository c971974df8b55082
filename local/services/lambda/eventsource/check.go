package eventsource

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"stepback/aws"
	"stepback/local/services/eventpattern"
	"stepback/local/services/sqs"
	"stepback/tasks/lambda/invocation"
)

func invalid(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "InvalidParameterValueException", Message: fmt.Sprintf(format, args...),
		Status: http.StatusBadRequest}
}

var errNoMapping = &aws.Error{Code: "ResourceNotFoundException", Message: "The resource you requested does not exist.",
	Status: http.StatusNotFound}

func errDuplicate(m *Mapping, uuid string) error {
	text := "An event source mapping with SQS arn (\" %s \") and function (\" %s \") already exists. Please update or delete the existing mapping with UUID %s"
	if m.ofStream() {
		text = "The event source arn (\" %s \") and function (\" %s \") provided mapping already exists. Please update or delete the existing mapping with UUID %s"
	}
	n, _ := invocation.ParseName(m.FunctionArn, "") // was built from a valid name
	return &aws.Error{Code: "ResourceConflictException", Status: http.StatusConflict,
		Message: fmt.Sprintf(text, m.EventSourceArn, n.Function, uuid)}
}

// errUnreadable returns the error for a mapping whose function has a role that may not read the source.
func errUnreadable(m *Mapping) error {
	if m.ofStream() {
		return invalid("Cannot access stream %s. Please ensure the role can perform the GetRecords, GetShardIterator, "+
			"DescribeStream, and ListStreams Actions on your stream in IAM.", m.EventSourceArn)
	}
	return invalid("The provided execution role does not have permissions to call ReceiveMessage on SQS")
}

// source is the queue or the stream that a mapping reads.
type source struct {
	queue sqs.Consumable
	place *uint64 // the starting position in a stream
}

// source returns the source of a new mapping.
func (s *Service) source(m *Mapping, in *CreateInput) (*source, error) {
	if in.EventSourceArn == "" {
		return nil, invalid("Unrecognized event source.")
	}
	a, ok := aws.ParseARN(in.EventSourceArn)
	switch {
	case !ok:
		return nil, invalid("Unrecognized event source.")
	case a.Service == "sqs":
		if in.StartingPosition != "" {
			return nil, invalid("StartingPosition is not valid for SQS event sources.")
		}
	case a.Service == "dynamodb":
		switch in.StartingPosition {
		case "":
			return nil, invalid("1 validation error detected: Value null at 'startingPosition' failed to satisfy constraint: Member must not be null.")
		case "TRIM_HORIZON", "LATEST":
		default:
			return nil, invalid("Unsupported starting position for arn type: %s", in.EventSourceArn)
		}
		m.StartingPosition = in.StartingPosition
	default:
		return nil, invalid("Event sources of %s are not read here; name a queue of SQS or a stream of DynamoDB.", a.Service)
	}
	return s.sourceOf(m)
}

// sourceOf returns the source of an existing mapping.
func (s *Service) sourceOf(m *Mapping) (*source, error) {
	if m.ofStream() {
		place, _, err := s.o.Streams.Position(m.EventSourceArn, m.StartingPosition == "LATEST")
		if err != nil {
			return nil, invalid("Stream not found: %s", m.EventSourceArn)
		}
		return &source{place: &place}, nil
	}
	a, _ := aws.ParseARN(m.EventSourceArn) // is a valid ARN
	queue, err := s.o.Queues.Queue(a)
	if err != nil {
		return nil, invalid("Error occurred while ReceiveMessage. SQS Error Code: AWS.SimpleQueueService.NonExistentQueue. SQS Error Message: The specified queue does not exist.")
	}
	return &source{queue: queue}, nil
}

// Limits of mappings.
const (
	queueBatch, streamBatch, mostOfBatch = 10, 100, 10_000
	mostFilters                          = 10
	unbounded                            = -1
)

// apply copies the given settings to m. from is nil if the source no longer exists.
func (s *Service) apply(m *Mapping, from *source, in *Settings) error {
	if m.BatchSize == 0 { // a new mapping
		m.BatchSize = queueBatch
		if m.ofStream() {
			m.BatchSize, m.Parallelization, m.MaxAge, m.MaxRetries = streamBatch, 1, unbounded, unbounded
		}
	}
	if err := in.supported(m); err != nil {
		return err
	}
	if in.FunctionName != "" {
		if err := s.function(m, in.FunctionName, from); err != nil {
			return err
		}
	}
	set(&m.Enabled, in.Enabled)
	set(&m.BatchSize, in.BatchSize)
	set(&m.Window, in.MaximumBatchingWindowInSeconds)
	set(&m.KMSKeyArn, in.KMSKeyArn)
	set(&m.Parallelization, in.ParallelizationFactor)
	set(&m.MaxAge, in.MaximumRecordAgeInSeconds)
	set(&m.MaxRetries, in.MaximumRetryAttempts)
	set(&m.Bisect, in.BisectBatchOnFunctionError)
	if in.FunctionResponseTypes != nil {
		m.ResponseTypes = in.FunctionResponseTypes
	}
	if in.MetricsConfig != nil {
		m.Metrics = in.MetricsConfig
	}
	if in.ScalingConfig != nil {
		m.Scaling = in.ScalingConfig
		if m.Scaling.MaximumConcurrency == 0 {
			m.Scaling = nil
		}
	}
	if d := in.DestinationConfig; d != nil {
		m.OnFailure = d.OnFailure.Destination
	}
	if in.FilterCriteria != nil {
		m.Filters = in.FilterCriteria
		if len(m.Filters.Filters) == 0 {
			m.Filters = nil
		}
	}
	if _, err := compile(m.Filters); err != nil {
		return err
	}
	return m.checkBatch(from)
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// supported returns an error for settings that do not apply to the kind of source or are not supported here.
func (in *Settings) supported(m *Mapping) error {
	const text = "Unsupported %s parameter for given event source mapping type."
	if in.TumblingWindowInSeconds != nil && *in.TumblingWindowInSeconds != 0 {
		return invalid("Tumbling windows are not kept here; leave TumblingWindowInSeconds out.")
	}
	if m.ofStream() {
		if in.ScalingConfig != nil {
			return invalid(text, "ScalingConfig")
		}
		return in.checkDestination()
	}
	for name, given := range map[string]bool{
		"DestinationConfig":          in.DestinationConfig != nil && in.DestinationConfig.OnFailure.Destination != "",
		"ParallelizationFactor":      in.ParallelizationFactor != nil,
		"MaximumRecordAgeInSeconds":  in.MaximumRecordAgeInSeconds != nil,
		"MaximumRetryAttempts":       in.MaximumRetryAttempts != nil,
		"BisectBatchOnFunctionError": in.BisectBatchOnFunctionError != nil,
	} {
		if given {
			return invalid(text, name)
		}
	}
	return nil
}

func (in *Settings) checkDestination() error {
	d := in.DestinationConfig
	if d == nil || d.OnFailure.Destination == "" {
		return nil
	}
	a, ok := aws.ParseARN(d.OnFailure.Destination)
	switch {
	case ok && (a.Service == "sqs" || a.Service == "sns"):
		return nil
	case ok && a.Service == "s3":
		return invalid("Buckets take no records here; name a queue or a topic instead of %s.", d.OnFailure.Destination)
	}
	return invalid("The destination ARN %s is invalid.", d.OnFailure.Destination)
}

// function sets the function of a mapping.
func (s *Service) function(m *Mapping, name string, from *source) error {
	n, err := invocation.ParseName(name, "")
	if err != nil {
		return err
	}
	scope := aws.Scope{Account: cmp.Or(n.Account, m.Scope.Account), Region: cmp.Or(n.Region, m.Scope.Region)}
	f, err := s.o.Functions.Get(scope, n.Function, n.Qualifier)
	if err != nil {
		return invalid("Function does not exist")
	}
	m.FunctionArn = f.Configuration.FunctionArn
	timeout := time.Duration(f.Configuration.Timeout) * time.Second
	if !m.ofStream() && from != nil && from.queue.VisibilityTimeout < timeout {
		return invalid("Queue visibility timeout: %d seconds is less than Function timeout: %d seconds",
			from.queue.VisibilityTimeout/time.Second, f.Configuration.Timeout)
	}
	return nil
}

// checkBatch validates the batch size and batching window.
func (m *Mapping) checkBatch(from *source) error {
	fifo := !m.ofStream() && from != nil && from.queue.FIFO
	switch {
	case fifo && m.Window > 0:
		return invalid("Batching window is not supported for FIFO queues")
	case fifo && m.BatchSize > queueBatch:
		return invalid("Batch size for FIFO queues must not exceed 10; it is %d", m.BatchSize)
	case m.BatchSize > mostOfBatch:
		return invalid("Batch size must not exceed 10000; it is %d", m.BatchSize)
	case !m.ofStream() && m.BatchSize > queueBatch && m.Window < 1:
		return invalid("Maximum batch window in seconds must be greater than 0 if maximum batch size is greater than 10")
	}
	return nil
}

// compile compiles the patterns of filter criteria.
func compile(criteria *FilterCriteria) ([]*eventpattern.Pattern, error) {
	if criteria == nil {
		return nil, nil
	}
	if len(criteria.Filters) > mostFilters {
		return nil, invalid("FilterCriteria has %d filters; it may have %d", len(criteria.Filters), mostFilters)
	}
	patterns := make([]*eventpattern.Pattern, len(criteria.Filters))
	for i, f := range criteria.Filters {
		p, err := eventpattern.Compile(cmp.Or(f.Pattern, "{}"), eventpattern.Limits{})
		if err != nil {
			return nil, invalid("Invalid filter pattern definition. %v", err)
		}
		patterns[i] = p
	}
	return patterns, nil
}
