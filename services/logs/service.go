package logs

import (
	"log/slog"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/services/logs/logstore"
)

// Service answers the operations. It is safe for concurrent use.
type Service struct {
	store *logstore.Store
	now   func() time.Time
}

// Target is the part of X-Amz-Target before the operation's name.
const Target = "Logs_20140328"

// New serves a store. Requests that name no account and region are about the default ones.
func New(store *logstore.Store, defaults aws.Scope, now func() time.Time, log *slog.Logger) *server.Service {
	s := &Service{store, now}
	return server.Must(server.Config{
		Model: "cloudwatchlogs", Invalid: codeInvalid, Operations: s.operations(), Failure: failure,
		Default: defaults, Log: log,
	})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateLogGroup":        server.Handle(s.createLogGroup),
		"DeleteLogGroup":        server.Handle(s.deleteLogGroup),
		"DescribeLogGroups":     server.Handle(s.describeLogGroups),
		"PutRetentionPolicy":    server.Handle(s.putRetentionPolicy),
		"DeleteRetentionPolicy": server.Handle(s.deleteRetentionPolicy),
		"CreateLogStream":       server.Handle(s.createLogStream),
		"DeleteLogStream":       server.Handle(s.deleteLogStream),
		"DescribeLogStreams":    server.Handle(s.describeLogStreams),
		"PutLogEvents":          server.Handle(s.putLogEvents),
		"GetLogEvents":          server.Handle(s.getLogEvents),
		"FilterLogEvents":       server.Handle(s.filterLogEvents),
		"ListTagsForResource":   server.Handle(s.listTagsForResource),
		"TagResource":           server.Handle(s.tagResource),
		"UntagResource":         server.Handle(s.untagResource),
		"ListTagsLogGroup":      server.Handle(s.listTagsLogGroup),
		"TagLogGroup":           server.Handle(s.tagLogGroup),
		"UntagLogGroup":         server.Handle(s.untagLogGroup),
	}
}

// none is the answer of operations that answer nothing.
type none struct{}

func in(scope aws.Scope) aws.Scope {
	return aws.Scope{Account: scope.Account, Region: scope.Region}
}
