package stepfunctions

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/logs/logstore"
)

// LogGroups stores the logs of executions whose state machines have a loggingConfiguration.
type LogGroups interface {
	// Group returns a log group. If there is none, the error is logstore.ErrNoGroup, and deleted reports whether one
	// of that name has been deleted.
	Group(scope aws.Scope, name string) (about logstore.Group, deleted bool, err error)
	CreateGroup(scope aws.Scope, g logstore.Group) error
	// Append adds events to a stream, which is created if needed. It must return quickly.
	Append(scope aws.Scope, group, stream string, events []logstore.Event) error
}

// executionLog determines how the executions of a revision log.
type executionLog struct {
	level   history.LogLevel
	data    bool
	scope   aws.Scope
	group   string
	machine string

	mu     sync.Mutex
	stream string
	until  time.Time
}

// streamLife is the time for which records go to the same stream.
const streamLife = 24 * time.Hour

// streamAt returns the name of the stream for records written now, named as the service names its streams.
func (l *executionLog) streamAt(now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.until) {
		l.until = now.Add(streamLife)
		l.stream = fmt.Sprintf("states/%s/%s/%08x", l.machine, now.UTC().Format("2006-01-02-15-04"), rand.Uint32())
	}
	return l.stream
}

// Follow logs the events of a step of an execution according to the state machine's loggingConfiguration. Engines
// call it.
func (s *Service) Follow(x *journal.Execution, events []history.Event) {
	l := s.logOf(x.Revision)
	if l == nil {
		return
	}
	var records []logstore.Event
	for i := range events {
		if e := &events[i]; l.level.Includes(e.Type) {
			const millisecond = 1e6
			records = append(records, logstore.Event{Time: e.Time / millisecond,
				Message: string(e.AppendLogRecord(nil, x.ARN, x.RedriveCount, l.data))})
		}
	}
	if len(records) == 0 {
		return
	}
	err := s.cfg.Logs.Append(l.scope, l.group, l.streamAt(s.cfg.Now()), records)
	if err != nil && !errors.Is(err, logstore.ErrNoGroup) &&
		s.cfg.Log != nil { // a deleted log group no longer receives logs
		s.cfg.Log.Warn("an execution could not be logged", "execution", x.ARN, "log group", l.group, "error", err)
	}
}

// logOf returns how the executions of a revision log, or nil if they do not.
func (s *Service) logOf(revision string) *executionLog {
	if s.cfg.Logs == nil || revision == "" {
		return nil
	}
	if l, ok := s.logs.Load(revision); ok {
		return l.(*executionLog) //nolint:forcetypeassert // nothing else is in the map
	}
	r, err := s.cfg.Store.Revision(revision)
	if err != nil {
		return nil
	}
	l, _ := s.logs.LoadOrStore(revision, r.log())
	return l.(*executionLog) //nolint:forcetypeassert // nothing else is in the map
}

// log returns how the executions of the revision log, or nil if they do not.
func (r *Revision) log() *executionLog {
	groups := r.Logging.groups()
	if r.Logging.Level == levelOff || len(groups) == 0 {
		return nil
	}
	scope, name, ok := parseLogGroup(groups[0])
	if !ok {
		return nil
	}
	return &executionLog{
		level: history.LogLevel(r.Logging.Level), data: r.Logging.IncludeExecutionData, scope: scope, group: name,
		machine: r.Name,
	}
}

// parseLogGroup parses the ARN of a log group, arn:aws:logs:REGION:ACCOUNT:log-group:NAME:*.
func parseLogGroup(arn string) (scope aws.Scope, name string, ok bool) {
	a, _ := aws.ParseARN(arn)
	name, ok = strings.CutPrefix(a.Resource, "log-group:")
	if !ok || a.Service != "logs" {
		return scope, "", false
	}
	name, ok = strings.CutSuffix(name, ":*")
	return a.Scope(), name, ok && name != ""
}

// The stream that the service creates to verify that it may write to a log group, and its message there.
const (
	validationStream  = "log_stream_created_by_aws_to_validate_log_delivery_subscriptions"
	validationMessage = "Permissions are set correctly to allow AWS CloudWatch Logs to write into your logs while creating a subscription."
)

// subscribe prepares the log group of a loggingConfiguration. A group that never existed is created; for one that has
// been deleted, it returns an error.
func (s *Service) subscribe(scope aws.Scope, l Logging) error {
	if s.cfg.Logs == nil {
		return nil
	}
	for _, arn := range l.groups() {
		at, name, _ := parseLogGroup(arn)
		if at != (aws.Scope{Account: scope.Account, Region: scope.Region}) {
			return invalidLogging("Log Destination not found.")
		}
		_, deleted, err := s.cfg.Logs.Group(at, name)
		if deleted {
			return invalidLogging("Log Destination not found.")
		}
		if errors.Is(err, logstore.ErrNoGroup) {
			err = s.cfg.Logs.CreateGroup(at, logstore.Group{Name: name})
		}
		if err != nil && !errors.Is(err, logstore.ErrExists) {
			return err
		}
		welcome := []logstore.Event{{Time: s.cfg.Now().UnixMilli(), Message: validationMessage}}
		if err := s.cfg.Logs.Append(at, name, validationStream, welcome); err != nil {
			return err
		}
	}
	return nil
}
