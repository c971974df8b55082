package executions

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/logs/logstore"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/configuration"
	"stepback/local/services/stepfunctions/statemachines"
)

// LogGroups stores the logs of executions if their state machine has a loggingConfiguration.
type LogGroups interface {
	// Group returns a log group. If it does not exist, the error is logstore.ErrNoGroup, and deleted reports
	// whether a group of that name has been deleted.
	Group(scope aws.Scope, name string) (about logstore.Group, deleted bool, err error)
	CreateGroup(scope aws.Scope, g logstore.Group) error
	// Append adds events to a stream, which is created if needed. It must return quickly.
	Append(scope aws.Scope, group, stream string, events []logstore.Event) error
}

// LogConfig holds the dependencies of a Log; all but Groups and Log is required.
type LogConfig struct {
	// Groups is where executions log; nil means nowhere.
	Groups LogGroups
	// Revision returns a revision of a state machine by its ID.
	Revision func(id string) (*statemachines.Revision, error)
	Now      func() time.Time
	Log      *slog.Logger
}

// Log logs executions as the loggingConfiguration of their state machine asks. It is safe for concurrent use.
type Log struct {
	cfg       LogConfig
	revisions sync.Map // by ID: *executionLog
}

// NewLog returns the log.
func NewLog(cfg LogConfig) *Log { return &Log{cfg: cfg} }

// Forget drops what the log remembers of a revision.
func (l *Log) Forget(revision string) { l.revisions.Delete(revision) }

// executionLog holds the log settings for the executions of a revision.
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

// streamLife is the time for which records go to the same stream before a new one is started.
const streamLife = 24 * time.Hour

// LogConfig holds the dependencies of a Log. All fields but Groups and Log are required.
func (l *executionLog) streamAt(now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.until) {
		l.until = now.Add(streamLife)
		l.stream = fmt.Sprintf("states/%s/%s/%08x", l.machine, now.UTC().Format("2006-01-02-15-04"), rand.Uint32())
	}
	return l.stream
}

// Follow logs the events of a step of an execution as the machine's loggingConfiguration asks. Engines call it.
func (l *Log) Follow(x *journal.Execution, events []history.Event) {
	of := l.of(x.Revision)
	if of == nil {
		return
	}
	var records []logstore.Event
	for i := range events {
		if e := &events[i]; of.level.Includes(e.Type) {
			const millisecond = 1e6
			records = append(records, logstore.Event{Time: e.Time / millisecond,
				Message: string(e.AppendLogRecord(nil, x.ARN, x.RedriveCount, of.data))})
		}
	}
	if len(records) == 0 {
		return
	}
	err := l.cfg.Groups.Append(of.scope, of.group, of.streamAt(l.cfg.Now()), records)
	if err != nil && !errors.Is(err, logstore.ErrNoGroup) &&
		l.cfg.Log != nil { // a deleted log group no longer receives logs
		l.cfg.Log.Warn("an execution could not be logged", "execution", x.ARN, "log group", of.group, "error", err)
	}
}

// of returns the log settings for the executions of a revision, or nil if they do not log.
func (l *Log) of(revision string) *executionLog {
	if l.cfg.Groups == nil || revision == "" {
		return nil
	}
	if of, ok := l.revisions.Load(revision); ok {
		return of.(*executionLog) //nolint:forcetypeassert // nothing else is in the map
	}
	r, err := l.cfg.Revision(revision)
	if err != nil {
		return nil
	}
	of, _ := l.revisions.LoadOrStore(revision, logOf(r))
	return of.(*executionLog) //nolint:forcetypeassert // nothing else is in the map
}

// logOf derives the log settings for the executions of a revision, or returns nil if they do not log.
func logOf(r *statemachines.Revision) *executionLog {
	groups := r.Logging.Groups()
	if r.Logging.Level == configuration.LevelOff || len(groups) == 0 {
		return nil
	}
	scope, name, ok := configuration.ParseLogGroup(groups[0])
	if !ok {
		return nil
	}
	return &executionLog{
		level: history.LogLevel(r.Logging.Level), data: r.Logging.IncludeExecutionData, scope: scope, group: name,
		machine: r.Name,
	}
}

// The service creates validationStream with validationMessage to verify that it may write to a log group.
const (
	validationStream  = "log_stream_created_by_aws_to_validate_log_delivery_subscriptions"
	validationMessage = "Permissions are set correctly to allow AWS CloudWatch Logs to write into your logs while creating a subscription."
)

// Subscribe prepares the log groups of a loggingConfiguration. It creates a group that never existed. If a group
// has been deleted, it returns an error.
func (l *Log) Subscribe(scope aws.Scope, c configuration.Logging) error {
	if l.cfg.Groups == nil {
		return nil
	}
	for _, arn := range c.Groups() {
		at, name, _ := configuration.ParseLogGroup(arn)
		if at != (aws.Scope{Account: scope.Account, Region: scope.Region}) {
			return apierror.InvalidLogging("Log Destination not found.")
		}
		_, deleted, err := l.cfg.Groups.Group(at, name)
		if deleted {
			return apierror.InvalidLogging("Log Destination not found.")
		}
		if errors.Is(err, logstore.ErrNoGroup) {
			err = l.cfg.Groups.CreateGroup(at, logstore.Group{Name: name})
		}
		if err != nil && !errors.Is(err, logstore.ErrExists) {
			return err
		}
		welcome := []logstore.Event{{Time: l.cfg.Now().UnixMilli(), Message: validationMessage}}
		if err := l.cfg.Groups.Append(at, name, validationStream, welcome); err != nil {
			return err
		}
	}
	return nil
}
