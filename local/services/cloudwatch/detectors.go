package cloudwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/cloudwatch/anomaly"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/local/services/documents"
)

// singleMetric identifies the metric and the statistic that a detector learns.
type singleMetric struct {
	Account string `json:"AccountId,omitempty"`
	Metric
	Stat string
}

type mathDetector struct {
	Queries []metricQuery `json:"MetricDataQueries"`
}

type excludedRange struct {
	Start server.Time `json:"StartTime"`
	End   server.Time `json:"EndTime"`
}

type detectorConfiguration struct {
	Excluded []excludedRange `json:"ExcludedTimeRanges"`
	Zone     string          `json:"MetricTimezone,omitempty"`
}

type metricCharacteristics struct {
	Spikes bool `json:"PeriodicSpikes"`
}

// detector is the stored form of an anomaly detector, of one metric or of metric math.
type detector struct {
	Single          *singleMetric          `json:",omitempty"`
	Math            *mathDetector          `json:",omitempty"`
	Configuration   detectorConfiguration  `json:",omitzero"`
	Characteristics *metricCharacteristics `json:",omitempty"`
}

func (d *detector) key(scope aws.Scope) string {
	if d.Math != nil {
		text, err := json.Marshal(d.Math.Queries)
		if err != nil {
			return ""
		}
		return detectorKeys + scopeKey(scope) + "math\x00" + string(text)
	}
	return detectorKeys + scopeKey(scope) + "metric\x00" + d.Single.text() + "\x00" + d.Single.Stat
}

func (d *detector) model() *anomaly.Model {
	excluded := make([]anomaly.Range, 0, len(d.Configuration.Excluded))
	for _, r := range d.Configuration.Excluded {
		excluded = append(excluded, anomaly.Range{Start: time.Time(r.Start), End: time.Time(r.End)})
	}
	zone, err := time.LoadLocation(d.Configuration.Zone)
	if err != nil {
		zone = time.UTC
	}
	return anomaly.New(zone, excluded)
}

// detectorOf returns the detector for a band over a query: one that was put, or one with default settings.
func (s *Service) detectorOf(scope aws.Scope, q *metricQuery, all []metricQuery) (*detector, error) {
	d := &detector{Math: &mathDetector{all}}
	if q.MetricStat != nil {
		d = &detector{Single: &singleMetric{Metric: q.MetricStat.Metric, Stat: q.MetricStat.Stat}}
	}
	text, found, err := s.table.Get(d.key(scope))
	if err != nil || !found {
		return d, err
	}
	return d, json.Unmarshal(text, d)
}

type detectorRequest struct {
	Metric
	Stat          string
	Configuration struct {
		Excluded []struct {
			Start float64 `json:"StartTime"`
			End   float64 `json:"EndTime"`
		} `json:"ExcludedTimeRanges"`
		Zone string `json:"MetricTimezone"`
	}
	Characteristics *metricCharacteristics `json:"MetricCharacteristics"`
	Single          *singleMetric          `json:"SingleMetricAnomalyDetector"`
	Math            *mathDetector          `json:"MetricMathAnomalyDetector"`
}

// detector returns the detector that a request describes, after checking it.
func (in *detectorRequest) detector() (*detector, error) {
	d := &detector{Single: in.Single, Math: in.Math, Characteristics: in.Characteristics,
		Configuration: detectorConfiguration{Zone: in.Configuration.Zone, Excluded: []excludedRange{}}}
	for _, r := range in.Configuration.Excluded {
		d.Configuration.Excluded = append(
			d.Configuration.Excluded,
			excludedRange{server.Time(timeOf(r.Start)), server.Time(timeOf(r.End))},
		)
	}
	old := in.Namespace != "" || in.Name != "" || in.Stat != "" || len(in.Dimensions) > 0
	switch {
	case old && (in.Single != nil || in.Math != nil) || in.Single != nil && in.Math != nil:
		return nil, combination(
			"Only one of SingleMetricAnomalyDetector, MetricMathAnomalyDetector and the parameters Namespace, " +
				"MetricName, Dimensions and Stat can be given.",
		)
	case in.Math != nil:
		return d, checkQueries("MetricMathAnomalyDetector.MetricDataQueries", in.Math.Queries)
	case in.Single == nil:
		d.Single = &singleMetric{Metric: in.Metric, Stat: in.Stat}
	}
	switch {
	case d.Single.Namespace == "":
		return nil, missing("The parameter Namespace is required.")
	case d.Single.Name == "":
		return nil, missing("The parameter MetricName is required.")
	case d.Single.Stat == "":
		return nil, missing("The parameter Stat is required.")
	}
	if _, err := datapoints.ParseStatistic(d.Single.Stat); err != nil {
		return nil, invalid("The value %s for parameter Stat is not supported.", d.Single.Stat)
	}
	if _, err := time.LoadLocation(d.Configuration.Zone); err != nil {
		return nil, invalid("The time zone %s of MetricTimezone is not known.", d.Configuration.Zone)
	}
	for _, r := range d.Configuration.Excluded {
		if !time.Time(r.Start).Before(time.Time(r.End)) {
			return nil, invalid("The StartTime of each of ExcludedTimeRanges must be before its EndTime.")
		}
	}
	d.Single.sorted()
	return d, nil
}

func (s *Service) putAnomalyDetector(_ context.Context, scope aws.Scope, in *detectorRequest) (*none, error) {
	d, err := in.detector()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return &none{}, s.change(func(b *documents.Batch) error {
		b.Put(s.table, d.key(scope), text)
		return nil
	})
}

func (s *Service) deleteAnomalyDetector(_ context.Context, scope aws.Scope, in *detectorRequest) (*none, error) {
	d, err := in.detector()
	if err != nil {
		return nil, err
	}
	return &none{}, s.change(func(b *documents.Batch) error {
		if _, found, err := s.table.Get(d.key(scope)); err != nil || !found {
			if err == nil {
				err = &aws.Error{
					Code:    "ResourceNotFoundException",
					Status:  404,
					Message: "The anomaly detector does not exist.",
				}
			}
			return err
		}
		b.Delete(s.table, d.key(scope))
		return nil
	})
}

type describeDetectorsRequest struct {
	Metric
	Types     []string `json:"AnomalyDetectorTypes"`
	Most      int      `json:"MaxResults"`
	NextToken string
}

type describedDetector struct {
	Namespace       string `json:",omitempty"`
	Name            string `json:"MetricName,omitempty"`
	Dimensions      []Dimension
	Stat            string                 `json:",omitempty"`
	Configuration   *detectorConfiguration `json:",omitempty"`
	StateValue      string
	Characteristics *metricCharacteristics `json:"MetricCharacteristics,omitempty"`
	Single          *singleMetric          `json:"SingleMetricAnomalyDetector,omitempty"`
	Math            *mathDetector          `json:"MetricMathAnomalyDetector,omitempty"`
	key             string
}

type describeDetectorsAnswer struct {
	Detectors []describedDetector `json:"AnomalyDetectors"`
	NextToken string              `json:",omitempty"`
}

func (s *Service) describeAnomalyDetectors(_ context.Context, scope aws.Scope, in *describeDetectorsRequest) (
	*describeDetectorsAnswer, error) {
	const usual = 50
	if len(in.Types) == 0 {
		in.Types = []string{"SINGLE_METRIC"}
	}
	types := strings.Join(in.Types, " ")
	all := []describedDetector{}
	if err := s.table.Scan(detectorKeys+scopeKey(scope), func(key string, text []byte) error {
		var d detector
		if err := json.Unmarshal(text, &d); err != nil {
			return err
		}
		one := describedDetector{Dimensions: []Dimension{}, Single: d.Single, Math: d.Math,
			Characteristics: d.Characteristics,
			Configuration:   &d.Configuration, key: key}
		if m := d.Single; m != nil {
			if !strings.Contains(types, "SINGLE_METRIC") || in.Namespace != "" && in.Namespace != m.Namespace ||
				in.Name != "" && in.Name != m.Name || !hasAll(&m.Metric, in.Dimensions) {
				return nil
			}
			one.Namespace, one.Name, one.Dimensions, one.Stat = m.Namespace, m.Name, m.Dimensions, m.Stat
		} else if !strings.Contains(types, "METRIC_MATH") {
			return nil
		}
		all = append(all, one)
		return nil
	}); err != nil {
		return nil, err
	}
	page, next, ok := aws.Page(
		aws.NewListing(s.opts.Clock.Now(), "detectors", scopeKey(scope), in.Namespace, in.Name, types),
		in.NextToken,
		cmp.Or(in.Most, usual),
		all,
		func(d describedDetector) string { return d.key },
	)
	if !ok {
		return nil, invalidToken()
	}
	for i := range page {
		state, err := s.trained(scope, &page[i])
		if err != nil {
			return nil, err
		}
		page[i].StateValue = state
	}
	return &describeDetectorsAnswer{page, next}, nil
}

func hasAll(m *Metric, dimensions []Dimension) bool {
	for _, d := range dimensions {
		if value, ok := m.dimension(d.Name); !ok || value != d.Value {
			return false
		}
	}
	return true
}

// trained returns a detector's training state, which depends on whether there are currently enough data for a band.
func (s *Service) trained(scope aws.Scope, d *describedDetector) (string, error) {
	const period = 300
	now := s.opts.Clock.Now()
	queries := []metricQuery{}
	if d.Single != nil {
		queries = append(
			queries,
			metricQuery{ID: "m", MetricStat: &metricStat{Metric: d.Single.Metric, Stat: d.Single.Stat, Period: period}},
		)
	} else {
		queries = d.Math.Queries
	}
	v := s.view(scope, queries, now.Add(-anomaly.Training), now)
	for i := range queries {
		if !queries[i].returns() {
			continue
		}
		_, all, err := v.query(&queries[i])
		if err != nil {
			return "", err
		}
		there := 0
		for _, l := range all {
			for _, x := range l.Values {
				if !math.IsNaN(x) {
					there++
				}
			}
		}
		switch {
		case there == 0:
			return "PENDING_TRAINING", nil
		case there < anomaly.Enough:
			return "TRAINED_INSUFFICIENT_DATA", nil
		}
	}
	return "TRAINED", nil
}
