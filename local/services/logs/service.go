package logs

import (
	"log/slog"
	"regexp"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
	"stepback/local/services/logs/logstore"
)

// Service implements the operations. It is safe for concurrent use.
type Service struct {
	store     *logstore.Store
	documents *documents.Store
	now       func() time.Time
	invocable func(scope aws.Scope, function string) bool
	changes   sync.Mutex // serializes changes of query definitions and resource policies
	runs      queryRuns
	tails     tailSessions
}

// Options are the settings of the service. All but Invocable and Log are required.
type Options struct {
	// Store holds the log groups.
	Store *logstore.Store
	// Documents stores the data that belong to no log group, in the table logs.
	Documents *documents.Store
	// Default is the account and region of requests that name none.
	Default aws.Scope
	Now     func() time.Time
	// Invocable reports whether the function of an ARN exists; nil means that all do.
	Invocable func(scope aws.Scope, function string) bool
	// Log receives refused requests; nil discards them.
	Log *slog.Logger
}

// New returns a service that serves the API.
func New(o Options) *server.Service {
	s := &Service{store: o.Store, documents: o.Documents, now: o.Now, invocable: o.Invocable}
	return server.Must(server.Config{
		Model: "cloudwatchlogs", Invalid: codeInvalid, Operations: s.operations(), Partly: partly, Accepted: accepted, Failure: failure,
		Default: o.Default, Log: o.Log, Words: words,
	})
}

// words holds the wording of errors that the model does not define.
var words = server.Words{
	// The model does not allow colons in namespaces; the service does.
	Patterns: map[string]*regexp.Regexp{"MetricNamespace": regexp.MustCompile(`^[^*$]*$`)}, Doubles: true,
	Long:  map[string]string{"LogGroupName": tooLong, "LogStreamName": tooLong},
	Whole: map[string][]string{"MetricTransformation": {"defaultValue", "unit", "dimensions"}},
}

const tooLong = "Invalid LogGroup or LogStream, both must have length less than or equal to 512."

func (s *Service) operations() map[string]server.Operation {
	const room = 8 << 20 // events of 1 MiB with every character escaped, or 10,000 short ones
	putLogEvents := server.Handle(s.putLogEvents)
	putLogEvents.MaxBody = room
	return map[string]server.Operation{
		"CreateLogGroup":                server.Handle(s.createLogGroup),
		"DeleteLogGroup":                server.Handle(s.deleteLogGroup),
		"DescribeLogGroups":             server.Handle(s.describeLogGroups),
		"ListLogGroups":                 server.Handle(s.listLogGroups),
		"AssociateKmsKey":               server.Handle(s.associateKMSKey),
		"DisassociateKmsKey":            server.Handle(s.disassociateKMSKey),
		"PutRetentionPolicy":            server.Handle(s.putRetentionPolicy),
		"DeleteRetentionPolicy":         server.Handle(s.deleteRetentionPolicy),
		"PutLogGroupDeletionProtection": server.Handle(s.putLogGroupDeletionProtection),
		"CreateLogStream":               server.Handle(s.createLogStream),
		"DeleteLogStream":               server.Handle(s.deleteLogStream),
		"DescribeLogStreams":            server.Handle(s.describeLogStreams),
		"PutLogEvents":                  putLogEvents,
		"GetLogEvents":                  server.Handle(s.getLogEvents),
		"FilterLogEvents":               server.Handle(s.filterLogEvents),
		"StartLiveTail":                 {Call: s.startLiveTail, Reads: startLiveTailRequest{}},
		"ListTagsForResource":           server.Handle(s.listTagsForResource),
		"TagResource":                   server.Handle(s.tagResource),
		"UntagResource":                 server.Handle(s.untagResource),
		"ListTagsLogGroup":              server.Handle(s.listTagsLogGroup),
		"TagLogGroup":                   server.Handle(s.tagLogGroup),
		"UntagLogGroup":                 server.Handle(s.untagLogGroup),

		"PutSubscriptionFilter":       server.Handle(s.putSubscriptionFilter),
		"DescribeSubscriptionFilters": server.Handle(s.describeSubscriptionFilters),
		"DeleteSubscriptionFilter":    server.Handle(s.deleteSubscriptionFilter),
		"PutMetricFilter":             server.Handle(s.putMetricFilter),
		"DescribeMetricFilters":       server.Handle(s.describeMetricFilters),
		"DeleteMetricFilter":          server.Handle(s.deleteMetricFilter),
		"TestMetricFilter":            server.Handle(s.testMetricFilter),
		"PutQueryDefinition":          server.Handle(s.putQueryDefinition),
		"DescribeQueryDefinitions":    server.Handle(s.describeQueryDefinitions),
		"DeleteQueryDefinition":       server.Handle(s.deleteQueryDefinition),
		"StartQuery":                  server.Handle(s.startQuery),
		"GetQueryResults":             server.Handle(s.getQueryResults),
		"StopQuery":                   server.Handle(s.stopQuery),
		"DescribeQueries":             server.Handle(s.describeQueries),
		"PutResourcePolicy":           server.Handle(s.putResourcePolicy),
		"DescribeResourcePolicies":    server.Handle(s.describeResourcePolicies),
		"DeleteResourcePolicy":        server.Handle(s.deleteResourcePolicy),
	}
}

// none is the response of operations that return nothing.
type none struct{}

func in(scope aws.Scope) aws.Scope {
	return aws.Scope{Account: scope.Account, Region: scope.Region}
}

// accepted lists the members of requests that have no effect, and why.
//
//nolint:gosec // no credentials
var accepted = map[string]map[string]string{
	"DescribeLogGroups": {
		"includeLinkedAccounts": "no accounts are linked",
	},
	"ListLogGroups": {
		"includeLinkedAccounts": "no accounts are linked",
	},
	"FilterLogEvents": {
		"interleaved": "events are always interleaved, as by AWS",
		"unmask":      "nothing is masked",
	},
	"GetLogEvents": {
		"unmask": "nothing is masked",
	},
	"PutLogEvents": {
		"entity":        "entities are not stored",
		"sequenceToken": "tokens are ignored, as by AWS",
	},
}
