package xray

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
)

// Options are the settings of a Service. Store and Now are required.
type Options struct {
	// Store holds segments and rules.
	Store *documents.Store
	// Now returns the current time.
	Now func() time.Time
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Log receives refused requests; nil discards them.
	Log *slog.Logger
}

// Service is the embedded X-Ray. It is safe for concurrent use.
type Service struct {
	o        Options
	segments *documents.Table
	rules    *documents.Table

	mu      sync.Mutex
	pruned  time.Time
	sampler sampler
}

// New returns a Service over a store.
func New(o Options) *Service {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	return &Service{o: o, segments: o.Store.Table("xray-segments"), rules: o.Store.Table("xray-rules")}
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{Model: "xray", Operations: s.operations(), Partly: partly, Accepted: accepted,
		Invalid: codeInvalid, Default: s.o.Scope, Log: s.o.Log})
}

const codeInvalid = "InvalidRequestException"

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"PutTraceSegments":    server.Handle(s.putTraceSegments),
		"PutTelemetryRecords": server.Handle(s.putTelemetryRecords),
		"GetTraceSummaries":   server.Handle(s.getTraceSummaries),
		"BatchGetTraces":      server.Handle(s.batchGetTraces),
		"GetServiceGraph":     server.Handle(s.getServiceGraph),
		"GetTraceGraph":       server.Handle(s.getTraceGraph),
		"CreateSamplingRule":  server.Handle(s.createRule),
		"GetSamplingRules":    server.Handle(s.getRules),
		"UpdateSamplingRule":  server.Handle(s.updateRule),
		"DeleteSamplingRule":  server.Handle(s.deleteRule),
		"GetSamplingTargets":  server.Handle(s.getTargets),
	}
}

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"PutTelemetryRecords": "accepted and discarded",
	"GetTraceSummaries":   "filter expressions are conditions joined by AND; no root causes, no sampling",
	"GetServiceGraph":     "no histograms or groups",
	"GetTraceGraph":       "no histograms",
	"CreateSamplingRule":  "no boosts; tags are ignored",
	"GetSamplingTargets":  "each client gets the whole reservoir",
}

func invalid(format string, args ...any) error {
	return &aws.Error{Code: codeInvalid, Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest}
}

// none is the response of operations that return nothing.
type none struct{}

// prefix returns the key prefix of a scope.
func prefix(scope aws.Scope) string { return scope.Account + "/" + scope.Region + "/" }

// retention is the time for which segments are kept after the start of their trace.
const retention = 30 * 24 * time.Hour

// prune deletes the segments of old traces, at most once per hour.
func (s *Service) prune(b *documents.Batch, scope aws.Scope) error {
	now := s.o.Now()
	s.mu.Lock()
	due := now.Sub(s.pruned) >= time.Hour
	if due {
		s.pruned = now
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	return s.segments.Scan(prefix(scope), func(key string, _ []byte) error {
		if began, ok := beganAt(key[len(prefix(scope)):]); ok && now.Sub(began) < retention {
			return errEnough // keys are ordered by time
		}
		b.Delete(s.segments, key)
		return nil
	})
}

var errEnough = errors.New("the rest is newer")

// beganAt returns the time in a trace ID: 1-SECONDS IN HEX-RANDOM.
func beganAt(id string) (time.Time, bool) {
	const at, end = 2, 10
	if len(id) < end {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseUint(id[at:end], 16, 32)
	return time.Unix(int64(seconds), 0), err == nil
}

func decode(text []byte, v any) error { return json.Unmarshal(text, v) }

// accepted lists the members of requests that have no effect, and why.
var accepted = map[string]map[string]string{
	"GetSamplingTargets": {
		"SamplingStatisticsDocuments.BorrowCount":  "statistics are not stored",
		"SamplingStatisticsDocuments.ClientID":     "statistics are not stored",
		"SamplingStatisticsDocuments.RequestCount": "statistics are not stored",
		"SamplingStatisticsDocuments.SampledCount": "statistics are not stored",
		"SamplingStatisticsDocuments.Timestamp":    "statistics are not stored",
		"SamplingBoostStatisticsDocuments":         "there are no boosts",
	},
	"GetTraceSummaries": {
		"Sampling":         "all traces are returned",
		"SamplingStrategy": "all traces are returned",
		"TimeRangeType":    "the time of a trace is its start",
	},
	"PutTelemetryRecords": {
		"EC2InstanceId":    "telemetry is not stored",
		"Hostname":         "telemetry is not stored",
		"ResourceARN":      "telemetry is not stored",
		"TelemetryRecords": "telemetry is not stored",
	},
}
