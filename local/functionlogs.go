package local

import (
	"bytes"
	"errors"
	"time"

	"stepback/aws"
	"stepback/local/services/lambda/runner"
	"stepback/local/services/logs/logstore"
	"stepback/retrymetrics"
)

// functionLog puts the logs of the functions of an account and region where AWS has them: in the log groups that their
// LoggingConfig names, by default /aws/lambda/NAME, in a stream for each execution environment.
type functionLog struct {
	store   *logstore.Store
	scope   aws.Scope
	metrics *retrymetrics.Collector
}

// WriteLog implements runner.LogSink. What a function says of its callee's circuit becomes metric data.
func (l functionLog) WriteLog(to runner.LogStream, lines []byte) {
	now := time.Now().UnixMilli()
	var events []logstore.Event
	for line := range bytes.Lines(lines) {
		l.metrics.AddEmbedded(line, retrymetrics.CircuitBreakerState, retrymetrics.SharedStateUnavailable)
		events = append(events, logstore.Event{Time: now, Message: string(line)})
	}
	err := l.store.Append(l.scope, to.Group, to.Name, events)
	if errors.Is(err, logstore.ErrNoGroup) {
		_ = l.store.CreateGroup(l.scope, logstore.Group{Name: to.Group}) // somebody else may have been faster
		_ = l.store.Append(l.scope, to.Group, to.Name, events)
	}
}
