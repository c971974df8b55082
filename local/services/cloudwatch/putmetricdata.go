package cloudwatch

import (
	"context"
	"math"
	"strings"
	"time"
	"unicode"

	"stepback/aws"
	"stepback/local/services/cloudwatch/datapoints"
)

type statistics struct {
	SampleCount, Sum, Minimum, Maximum float64
}

type datum struct {
	Name       string `json:"MetricName"`
	Dimensions []Dimension
	Timestamp  *float64
	Value      *float64
	Statistics *statistics `json:"StatisticValues"`
	Values     []float64
	Counts     []float64
	Unit       string
	Resolution int `json:"StorageResolution"`
}

type putMetricDataRequest struct {
	Namespace string
	Data      []datum `json:"MetricData"`
	Entities  []struct {
		Data []datum `json:"MetricData"`
	} `json:"EntityMetricData"`
}

func (s *Service) putMetricData(_ context.Context, scope aws.Scope, in *putMetricDataRequest) (*none, error) {
	const most = 1000
	if strings.HasPrefix(in.Namespace, "AWS/") {
		return nil, invalid("The value AWS/ for parameter Namespace is invalid.")
	}
	for _, e := range in.Entities {
		in.Data = append(in.Data, e.Data...)
	}
	if len(in.Data) == 0 {
		return nil, missing("The parameter MetricData is required.")
	}
	if len(in.Data) > most {
		return nil, invalid("The collection MetricData must not have a size greater than %d.", most)
	}
	all := make([]Datum, len(in.Data))
	for i := range in.Data {
		if err := s.datum(&all[i], in.Namespace, &in.Data[i], i+1); err != nil {
			return nil, err
		}
	}
	return &none{}, s.Put(scope, all)
}

// isDimensionText reports whether a dimension may have a name or value: it is in ASCII, and not blank.
func isDimensionText(text string) bool {
	return strings.TrimSpace(text) != "" && strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// datum checks the n-th datum of a request and converts it.
func (s *Service) datum(to *Datum, namespace string, d *datum, n int) error {
	const earliest, latest, mostDimensions, mostValues = 14 * 24 * time.Hour, 2 * time.Hour, 30, 150
	now := s.opts.Clock.Now()
	to.At = now
	if d.Timestamp != nil {
		to.At = time.UnixMilli(int64(math.Round(*d.Timestamp * 1000))).UTC()
	}
	switch {
	case to.At.Before(now.Add(-earliest)) || to.At.After(now.Add(latest)):
		return invalid("The parameter MetricData.member.%d.Timestamp must specify a time no more than 2 weeks in the past and no "+
			"more than 2 hours in the future.", n)
	case len(d.Dimensions) > mostDimensions:
		return invalid("The collection MetricData.member.%d.Dimensions must not have a size greater than %d.", n, mostDimensions)
	case d.Resolution != 0 && d.Resolution != 1 && d.Resolution != 60:
		return invalid("The parameter MetricData.member.%d.StorageResolution must be 1 or 60.", n)
	case d.Value != nil && d.Values != nil:
		return exclusive(n, "Value", "Values")
	case d.Value != nil && d.Statistics != nil:
		return exclusive(n, "Value", "StatisticValues")
	}
	for i, dimension := range d.Dimensions {
		if strings.HasPrefix(dimension.Name, ":") || !isDimensionText(dimension.Name) {
			return invalid("The value %s for parameter MetricData.member.%d.Dimensions.member.%d.Name is invalid.", dimension.Name, n, i+1)
		}
		if !isDimensionText(dimension.Value) {
			return invalid("The value %s for parameter MetricData.member.%d.Dimensions.member.%d.Value is invalid.", dimension.Value, n, i+1)
		}
	}
	to.Metric = Metric{namespace, d.Name, d.Dimensions}
	to.Fine = d.Resolution == 1
	to.Data.Unit = "None"
	if d.Unit != "" {
		to.Data.Unit = d.Unit
	}
	switch {
	case d.Value != nil:
		return number(*d.Value, n, func() { to.Data.Add(*d.Value, 1) })
	case d.Statistics != nil:
		v := d.Statistics
		if v.SampleCount <= 0 || v.Minimum > v.Maximum {
			return invalid("The value %v for parameter MetricData.member.%d.StatisticValues.SampleCount is invalid.", v.SampleCount, n)
		}
		sum := datapoints.Summary{Count: v.SampleCount, Sum: v.Sum, Min: v.Minimum, Max: v.Maximum,
			Incomplete: v.Minimum != v.Maximum, Unit: to.Data.Unit}
		if !sum.Incomplete {
			sum.Values = []datapoints.Value{{Value: v.Minimum, Count: v.SampleCount}}
		}
		if err := number(v.Sum, n, func() { to.Data = sum }); err != nil || d.Values == nil {
			return err
		}
	}
	switch {
	case d.Statistics != nil && len(d.Values) == 0:
		return nil
	case len(d.Values) == 0:
		return missing("The parameter MetricData.member.%d.Value is required.", n)
	case len(d.Values) > mostValues:
		return invalid("The collection MetricData.member.%d.Values must not have a size greater than %d.", n, mostValues)
	case len(d.Counts) > 0 && len(d.Counts) != len(d.Values):
		return invalid("The parameters MetricData.member.%d.Values and MetricData.member.%d.Counts must be of the same size.", n, n)
	}
	for i, v := range d.Values {
		count := 1.0
		if len(d.Counts) > 0 {
			count = d.Counts[i]
		}
		if err := number(v, n, func() { to.Data.Add(v, count) }); err != nil {
			return err
		}
	}
	return nil
}

// number rejects values that CloudWatch does not accept, and otherwise calls add.
func number(v float64, n int, add func()) error {
	const largest = 0x1p360
	if math.IsNaN(v) || math.Abs(v) > largest {
		return invalid("The value %v for parameter MetricData.member.%d.Value is invalid.", v, n)
	}
	add()
	return nil
}

// exclusive returns the error for two mutually exclusive members of a datum.
func exclusive(n int, one, other string) error {
	return combination("The parameters MetricData.member.%d.%s and MetricData.member.%d.%s are mutually exclusive and you "+
		"have specified both.", n, one, n, other)
}
