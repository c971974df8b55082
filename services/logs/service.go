package logs

import (
	"log/slog"
	"time"

	"stepback/aws"
	"stepback/aws/server/awsjson"
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
func New(store *logstore.Store, defaults aws.Scope, now func() time.Time, log *slog.Logger) *awsjson.Service {
	s := &Service{store, now}
	return &awsjson.Service{
		Target: Target, Protocol: "1.1", Invalid: codeInvalid, Operations: s.operations(), Failure: failure,
		Default: defaults, Log: log,
	}
}

func (s *Service) operations() map[string]awsjson.Operation {
	return map[string]awsjson.Operation{
		"CreateLogGroup":        awsjson.Handle(createLogGroupMembers, s.createLogGroup),
		"DeleteLogGroup":        awsjson.Handle(logGroupMembers, s.deleteLogGroup),
		"DescribeLogGroups":     awsjson.Handle(describeLogGroupsMembers, s.describeLogGroups),
		"PutRetentionPolicy":    awsjson.Handle(putRetentionPolicyMembers, s.putRetentionPolicy),
		"DeleteRetentionPolicy": awsjson.Handle(logGroupMembers, s.deleteRetentionPolicy),
		"CreateLogStream":       awsjson.Handle(logStreamMembers, s.createLogStream),
		"DeleteLogStream":       awsjson.Handle(logStreamMembers, s.deleteLogStream),
		"DescribeLogStreams":    awsjson.Handle(describeLogStreamsMembers, s.describeLogStreams),
		"PutLogEvents":          awsjson.Handle(putLogEventsMembers, s.putLogEvents),
		"GetLogEvents":          awsjson.Handle(getLogEventsMembers, s.getLogEvents),
		"FilterLogEvents":       awsjson.Handle(filterLogEventsMembers, s.filterLogEvents),
		"ListTagsForResource":   awsjson.Handle(resourceMembers, s.listTagsForResource),
		"TagResource":           awsjson.Handle(tagResourceMembers, s.tagResource),
		"UntagResource":         awsjson.Handle(untagResourceMembers, s.untagResource),
		"ListTagsLogGroup":      awsjson.Handle(logGroupMembers, s.listTagsLogGroup),
		"TagLogGroup":           awsjson.Handle(tagLogGroupMembers, s.tagLogGroup),
		"UntagLogGroup":         awsjson.Handle(untagLogGroupMembers, s.untagLogGroup),
	}
}

// none is the answer of operations that answer nothing.
type none struct{}

func in(scope aws.Scope) aws.Scope {
	return aws.Scope{Account: scope.Account, Region: scope.Region}
}
