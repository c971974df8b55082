package cloudwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"sync"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
)

type streamFilter struct {
	Namespace string   `json:",omitempty"`
	Metrics   []string `json:"MetricNames,omitempty"`
}

type streamStatistics struct {
	Metrics    []streamedMetric `json:"IncludeMetrics"`
	Additional []string         `json:"AdditionalStatistics"`
}

type streamedMetric struct {
	Namespace string
	Name      string `json:"MetricName"`
}

// streamSettings are the settings of a metric stream in a request.
type streamSettings struct {
	Name         string
	Include      []streamFilter `json:"IncludeFilters,omitempty"`
	Exclude      []streamFilter `json:"ExcludeFilters,omitempty"`
	Firehose     string         `json:"FirehoseArn"`
	RoleARN      string         `json:"RoleArn"`
	OutputFormat string
	Statistics   []streamStatistics `json:"StatisticsConfigurations,omitempty"`
	Linked       bool               `json:"IncludeLinkedAccountsMetrics"`
}

// metricStream is the stored form of a metric stream. There is no Firehose here to which it could deliver.
type metricStream struct {
	streamSettings
	ARN     string `json:"Arn"`
	State   string
	Created server.Time       `json:"CreationDate"`
	Updated server.Time       `json:"LastUpdateDate"`
	Tags    map[string]string `json:",omitempty"`
}

func streamKey(scope aws.Scope, name string) string { return streamKeys + scopeKey(scope) + name }

func (s *Service) stream(scope aws.Scope, name string) (*metricStream, error) {
	text, found, err := s.table.Get(streamKey(scope, name))
	if err != nil || !found {
		return nil, err
	}
	m := new(metricStream)
	return m, json.Unmarshal(text, m)
}

func (s *Service) keepStream(b *documents.Batch, scope aws.Scope, m *metricStream) error {
	text, err := json.Marshal(m)
	if err == nil {
		b.Put(s.table, streamKey(scope, m.Name), text)
	}
	return err
}

type putMetricStreamRequest struct {
	streamSettings
	Tags []tag
}

type metricStreamARN struct {
	ARN string `json:"Arn"`
}

var streamName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`) })

func (s *Service) putMetricStream(_ context.Context, scope aws.Scope, in *putMetricStreamRequest) (*metricStreamARN, error) {
	firehose, ok := aws.ParseARN(in.Firehose)
	switch {
	case !streamName().MatchString(in.Name):
		return nil, invalid("The value %s for parameter Name is invalid: letters, digits, - and _ are allowed.", in.Name)
	case !ok || firehose.Service != "firehose":
		return nil, invalid("The value %s for parameter FirehoseArn is invalid.", in.Firehose)
	case len(in.Include) > 0 && len(in.Exclude) > 0:
		return nil, combination("You cannot specify both IncludeFilters and ExcludeFilters in the same request.")
	}
	arn := scope.ARN("cloudwatch", "metric-stream/"+in.Name)
	s.opts.Log.Warn("a metric stream is kept and delivers nothing: there is no Firehose here", "stream", arn)
	return &metricStreamARN{arn}, s.change(func(b *documents.Batch) error {
		before, err := s.stream(scope, in.Name)
		if err != nil {
			return err
		}
		now := server.Time(s.opts.Clock.Now())
		m := &metricStream{streamSettings: in.streamSettings, ARN: arn, State: "running", Created: now, Updated: now}
		if before != nil {
			m.State, m.Created, m.Tags = before.State, before.Created, before.Tags
		} else if len(in.Tags) > 0 {
			m.Tags = map[string]string{}
			for _, t := range in.Tags {
				m.Tags[t.Key] = t.Value
			}
		}
		return s.keepStream(b, scope, m)
	})
}

type metricStreamRequest struct{ Name string }

type describedStream struct {
	streamSettings
	ARN     string `json:"Arn"`
	State   string
	Created server.Time `json:"CreationDate"`
	Updated server.Time `json:"LastUpdateDate"`
}

func (s *Service) getMetricStream(_ context.Context, scope aws.Scope, in *metricStreamRequest) (*describedStream, error) {
	m, err := s.stream(scope, in.Name)
	if err == nil && m == nil {
		err = noResource("metric stream " + in.Name)
	}
	if err != nil {
		return nil, err
	}
	return &describedStream{m.streamSettings, m.ARN, m.State, m.Created, m.Updated}, nil
}

type streamEntry struct {
	ARN          string      `json:"Arn"`
	Created      server.Time `json:"CreationDate"`
	Updated      server.Time `json:"LastUpdateDate"`
	Name         string
	Firehose     string `json:"FirehoseArn"`
	State        string
	OutputFormat string
}

type listMetricStreamsAnswer struct {
	Entries   []streamEntry
	NextToken string `json:",omitempty"`
}

func (s *Service) listMetricStreams(_ context.Context, scope aws.Scope, in *describeInsightRulesRequest) (
	*listMetricStreamsAnswer, error) {
	const usual = 500
	all := []streamEntry{}
	if err := s.table.Scan(streamKeys+scopeKey(scope), func(_ string, text []byte) error {
		var m metricStream
		err := json.Unmarshal(text, &m)
		all = append(all, streamEntry{m.ARN, m.Created, m.Updated, m.Name, m.Firehose, m.State, m.OutputFormat})
		return err
	}); err != nil {
		return nil, err
	}
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "streams", scopeKey(scope)), in.NextToken,
		cmp.Or(in.Most, usual), all, func(e streamEntry) string { return e.Name })
	if !ok {
		return nil, invalidToken()
	}
	return &listMetricStreamsAnswer{page, next}, nil
}

func (s *Service) deleteMetricStream(_ context.Context, scope aws.Scope, in *metricStreamRequest) (*none, error) {
	return &none{}, s.change(func(b *documents.Batch) error {
		b.Delete(s.table, streamKey(scope, in.Name))
		return nil
	})
}

type metricStreamNames struct{ Names []string }

func (s *Service) startMetricStreams(_ context.Context, scope aws.Scope, in *metricStreamNames) (*none, error) {
	return s.eachStream(scope, in, "running")
}

func (s *Service) stopMetricStreams(_ context.Context, scope aws.Scope, in *metricStreamNames) (*none, error) {
	return s.eachStream(scope, in, "stopped")
}

func (s *Service) eachStream(scope aws.Scope, in *metricStreamNames, state string) (*none, error) {
	return &none{}, s.change(func(b *documents.Batch) error {
		for _, name := range in.Names {
			m, err := s.stream(scope, name)
			if err == nil && m == nil {
				err = invalid("The metric stream %s does not exist.", name)
			}
			if err != nil {
				return err
			}
			m.State = state
			if err := s.keepStream(b, scope, m); err != nil {
				return err
			}
		}
		return nil
	})
}
