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

// Deliverer delivers messages to the resources of ARNs.
type Deliverer interface {
	Deliver(ctx context.Context, arn string, m *delivery.Message) error
	Takes(arn string) bool
}

// Options are the settings of a Service. Documents, Clock and Targets are required.
type Options struct {
	// Documents stores all data, in the table cloudwatch.
	Documents *documents.Store
	// Clock provides the time and drives the evaluation of alarms. It must outlive the service.
	Clock *clock.Clock
	// Targets delivers the actions of alarms.
	Targets Deliverer
	// Scope is the account and region for requests that name none.
	Scope aws.Scope
	// Measure stores the values measured so far. It is called before metrics are read and before alarms are
	// evaluated. Nil measures nothing.
	Measure func() error
	// Link returns the address to which e-mails link instead of an address of the AWS Management Console, which does
	// not know the resources here. Other addresses are returned unchanged. With nil Link, e-mails have no link to an
	// alarm.
	Link func(address string) string
	// Log receives rejected requests and actions that cannot be delivered; nil discards them.
	Log *slog.Logger
}

// Service is a local CloudWatch. It is safe for concurrent use.
type Service struct {
	opts  Options
	table *documents.Table

	mu      sync.Mutex // serialises changes
	metrics registry

	watching watch
}

// measure stores the values measured so far. Call it before reading metrics.
func (s *Service) measure() error {
	if s.opts.Measure == nil {
		return nil
	}
	return s.opts.Measure()
}

// Open opens the CloudWatch data in the store. Resume continues to evaluate its alarms; Close ends the service.
func Open(o Options) (*Service, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{opts: o, table: o.Documents.Table("cloudwatch")}
	s.watching.begin()
	return s, nil
}

// Resume continues to evaluate the alarms of an earlier process, and starts with the rounds that were missed. It is
// called once, when the targets of their actions are available: an action without an available target fails.
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

// Close stops evaluating alarms. Undelivered actions are delivered after the next Resume.
func (s *Service) Close() error {
	s.end()
	return nil
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model:       "cloudwatch",
		Operations:  s.operations(),
		Partly:      partly,
		Accepted:    accepted,
		Default:     s.opts.Scope,
		Log:         s.opts.Log,
		Invalid:     "ValidationError",
		ReservedTag: invalid(aws.ReservedTagMessage),
		Words: server.Words{QueryCodes: queryCodes, Doubles: true,
			Enums: map[string][]string{"StateValue": {"INSUFFICIENT_DATA", "ALARM", "OK"}}},
	})
}

// queryCodes maps errors to their codes in the Query protocol, if the code is not the name of the shape.
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

// change runs f under the lock and waits until its changes are on disk.
func (s *Service) change(f func(*documents.Batch) error) error {
	return s.opts.Documents.Change(&s.mu, f)
}

// none is the response of operations without output.
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

// accepted lists the members of requests that have no effect, and why.
var accepted = map[string]map[string]string{
	"GetMetricData": {
		"LabelOptions": "labels contain no times",
	},
	"ListMetrics": {
		"IncludeLinkedAccounts": "no accounts are linked",
	},
	"PutMetricData": {
		"EntityMetricData.Entity": "entities are not stored",
		"StrictEntityValidation":  "entities are not stored",
	},
}
