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

// functionLog writes the logs of the functions of an account and region to the same place as AWS: to the log groups
// that their LoggingConfig names, by default /aws/lambda/NAME, with a stream for each execution environment.
type functionLog struct {
	store   *logstore.Store
	scope   aws.Scope
	metrics *retrymetrics.Collector
}

// WriteLog implements runner.LogSink. Lines with metrics that only functions count, about the circuit of a callee and
// about the controller, become metric data.
func (l functionLog) WriteLog(to runner.LogStream, lines []byte) {
	now := time.Now().UnixMilli()
	var events []logstore.Event
	for line := range bytes.Lines(lines) {
		l.metrics.AddEmbedded(line, retrymetrics.CircuitBreakerState, retrymetrics.SharedStateUnavailable,
			retrymetrics.ControllerChanges, retrymetrics.ControllerProposals, retrymetrics.RetryModelBrier,
			retrymetrics.BaseRateBrier, retrymetrics.RetryModelUsed)
		events = append(events, logstore.Event{Time: now, Message: string(line)})
	}
	err := l.store.Append(l.scope, to.Group, to.Name, events)
	if errors.Is(err, logstore.ErrNoGroup) {
		_ = l.store.CreateGroup(l.scope, logstore.Group{Name: to.Group}) // another writer may have created it first
		_ = l.store.Append(l.scope, to.Group, to.Name, events)
	}
}
