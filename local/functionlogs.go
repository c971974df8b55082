package local

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"time"

	"stepback/aws"
	"stepback/retrymetrics"
	"stepback/services/logs/logstore"
)

// functionLog puts the logs of the functions of an account and region where AWS has them: in the log groups
// /aws/lambda/NAME.
type functionLog struct {
	store   *logstore.Store
	scope   aws.Scope
	metrics *retrymetrics.Collector
}

// WriteLog implements runner.LogSink. What a function says of its callee's circuit becomes metric data.
func (l functionLog) WriteLog(function string, lines []byte) {
	group, now := "/aws/lambda/"+function, time.Now()
	var events []logstore.Event
	for line := range bytes.Lines(lines) {
		l.metrics.AddEmbedded(line, retrymetrics.CircuitBreakerState, retrymetrics.SharedStateUnavailable)
		events = append(events, logstore.Event{Time: now.UnixMilli(), Message: string(line)})
	}
	err := l.store.Append(l.scope, group, stream(function, now), events)
	if errors.Is(err, logstore.ErrNoGroup) {
		_ = l.store.CreateGroup(l.scope, logstore.Group{Name: group}) // somebody else may have been faster
		_ = l.store.Append(l.scope, group, stream(function, now), events)
	}
}

// stream is named as Lambda names the streams of a version, with this process in the place of an environment.
func stream(function string, now time.Time) string {
	h := fnv.New128a()
	_, _ = io.WriteString(h, fmt.Sprint(function, os.Getpid())) // cannot fail
	return now.UTC().Format("2006/01/02") + fmt.Sprintf("/[$LATEST]%032x", h.Sum(nil))
}
