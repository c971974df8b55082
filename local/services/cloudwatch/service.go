package cloudwatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
)

// Deliverer hands messages to what ARNs name.
type Deliverer interface {
	Deliver(ctx context.Context, arn string, m *delivery.Message) error
	Takes(arn string) bool
}

// Options are the settings of a Service. Documents, Clock and Targets are required.
type Options struct {
	// Documents is where everything is kept, in the table cloudwatch.
	Documents *documents.Store
	// Clock tells the time and has alarms evaluated. It must outlive the service.
	Clock *clock.Clock
	// Targets is where the actions of alarms go.
	Targets Deliverer
	// Scope is the account and region of requests that name none.
	Scope aws.Scope
	// Measure is called before metrics are read and alarms evaluated: it puts what has been measured until then. Nil
	// means nothing is.
	Measure func() error
	// Log receives refusals and of actions that cannot be delivered; nil drops them.
	Log *slog.Logger
}

// Service is the CloudWatch of the laptop. It is safe for concurrent use.
type Service struct {
	opts  Options
	table *documents.Table

	mu      sync.Mutex // orders changes
	metrics registry

	watching watch
}

// measure puts what has been measured until now, for who reads it.
func (s *Service) measure() error {
	if s.opts.Measure == nil {
		return nil
	}
	return s.opts.Measure()
}

// Open opens what the documents have of CloudWatch. Resume goes on watching its alarms; Close ends it.
func Open(o Options) (*Service, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{opts: o, table: o.Documents.Table("cloudwatch")}
	s.watching.begin()
	return s, nil
}

// Resume goes on watching the alarms that an earlier process left, and begins with the rounds that have been missed. It
// is called once, when the targets of their actions are there: an action that nobody takes has failed.
func (s *Service) Resume() error {
	watched := errors.New("there are alarms")
	err := s.table.Scan(alarmKeys, func(string, []byte) error { return watched })
	if !errors.Is(err, watched) {
		return err
	}
	s.watch()
	s.hurry()
	return nil
}

// Close stops watching alarms. Actions that are not delivered are, after the next Resume.
func (s *Service) Close() error {
	s.watching.end()
	return nil
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "cloudwatch", Operations: s.operations(), Partly: partly, Default: s.opts.Scope, Log: s.opts.Log,
		Invalid: "ValidationError", Words: server.Words{QueryCodes: queryCodes,
			Enums: map[string][]string{"StateValue": {"INSUFFICIENT_DATA", "ALARM", "OK"}}},
	})
}

// queryCodes are the codes for clients of the Query protocol of errors whose code is not the name of the shape.
var queryCodes = map[string]string{
	"InvalidParameterValueException": "InvalidParameterValue", "MissingRequiredParameterException": "MissingParameter",
	"InvalidParameterCombinationException": "InvalidParameterCombination", "DashboardNotFoundError": "ResourceNotFound",
	"DashboardInvalidInputError": "InvalidParameterInput", "LimitExceededFault": "LimitExceeded",
	"InvalidFormatFault": "InvalidFormat",
}

func (s *Service) operations() map[string]server.Operation {
	const room = 1 << 20
	put := server.Handle(s.putMetricData)
	put.MaxBody = room
	return map[string]server.Operation{
		"PutMetricData":            put,
		"GetMetricData":            server.Handle(s.getMetricData),
		"GetMetricStatistics":      server.Handle(s.getMetricStatistics),
		"ListMetrics":              server.Handle(s.listMetrics),
		"PutMetricAlarm":           server.Handle(s.putMetricAlarm),
		"PutCompositeAlarm":        server.Handle(s.putCompositeAlarm),
		"DescribeAlarms":           server.Handle(s.describeAlarms),
		"DescribeAlarmsForMetric":  server.Handle(s.describeAlarmsForMetric),
		"DescribeAlarmHistory":     server.Handle(s.describeAlarmHistory),
		"DeleteAlarms":             server.Handle(s.deleteAlarms),
		"EnableAlarmActions":       server.Handle(s.enableAlarmActions),
		"DisableAlarmActions":      server.Handle(s.disableAlarmActions),
		"SetAlarmState":            server.Handle(s.setAlarmState),
		"PutDashboard":             server.Handle(s.putDashboard),
		"GetDashboard":             server.Handle(s.getDashboard),
		"ListDashboards":           server.Handle(s.listDashboards),
		"DeleteDashboards":         server.Handle(s.deleteDashboards),
		"PutAnomalyDetector":       server.Handle(s.putAnomalyDetector),
		"DescribeAnomalyDetectors": server.Handle(s.describeAnomalyDetectors),
		"DeleteAnomalyDetector":    server.Handle(s.deleteAnomalyDetector),
		"PutInsightRule":           server.Handle(s.putInsightRule),
		"DescribeInsightRules":     server.Handle(s.describeInsightRules),
		"EnableInsightRules":       server.Handle(s.enableInsightRules),
		"DisableInsightRules":      server.Handle(s.disableInsightRules),
		"DeleteInsightRules":       server.Handle(s.deleteInsightRules),
		"PutMetricStream":          server.Handle(s.putMetricStream),
		"GetMetricStream":          server.Handle(s.getMetricStream),
		"ListMetricStreams":        server.Handle(s.listMetricStreams),
		"StartMetricStreams":       server.Handle(s.startMetricStreams),
		"StopMetricStreams":        server.Handle(s.stopMetricStreams),
		"DeleteMetricStream":       server.Handle(s.deleteMetricStream),
		"TagResource":              server.Handle(s.tagResource),
		"UntagResource":            server.Handle(s.untagResource),
		"ListTagsForResource":      server.Handle(s.listTagsForResource),
	}
}

// change has f make changes, and waits until they are on the disk.
func (s *Service) change(f func(*documents.Batch) error) error {
	return s.opts.Documents.Change(&s.mu, f)
}

// none is the answer of operations that answer nothing.
type none struct{}

func invalid(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "InvalidParameterValueException", Message: fmt.Sprintf(format, args...)}
}

func combination(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "InvalidParameterCombinationException", Message: fmt.Sprintf(format, args...)}
}

func missing(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "MissingRequiredParameterException", Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "ResourceNotFound", Status: 404, Message: fmt.Sprintf(format, args...)}
}

func invalidToken() *aws.Error {
	return &aws.Error{Code: "InvalidNextToken", Message: "The next token specified is invalid."}
}
