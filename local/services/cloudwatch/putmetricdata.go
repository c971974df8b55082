package cloudwatch

import (
	"context"
	"math"
	"strings"
	"time"
	"unicode"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/cloudwatch/datapoints"
)

type statistics struct {
	SampleCount, Sum, Minimum, Maximum server.Real
}

type datum struct {
	Name       string `json:"MetricName"`
	Dimensions []Dimension
	Timestamp  *float64
	Value      *server.Real
	Statistics *statistics `json:"StatisticValues"`
	Values     []server.Real
	Counts     []server.Real
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
	if i := strings.IndexFunc(in.Namespace, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_/#: ", r)
	}); i >= 0 {
		return nil, invalid("The value %s for parameter Namespace is invalid.", in.Namespace)
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
		return number(*d.Value, n, func() { to.Data.Add(float64(*d.Value), 1) })
	case d.Statistics != nil:
		v := d.Statistics
		for _, x := range []server.Real{v.SampleCount, v.Minimum, v.Maximum} {
			if err := number(x, n, func() {}); err != nil {
				return err
			}
		}
		if v.SampleCount <= 0 || v.Minimum > v.Maximum {
			return invalid("The value %v for parameter MetricData.member.%d.StatisticValues.SampleCount is invalid.", v.SampleCount, n)
		}
		sum := datapoints.Summary{Count: float64(v.SampleCount), Sum: float64(v.Sum), Min: float64(v.Minimum),
			Max:        float64(v.Maximum),
			Incomplete: v.Minimum != v.Maximum, Unit: to.Data.Unit}
		if !sum.Incomplete {
			sum.Values = []datapoints.Value{{Value: sum.Min, Count: sum.Count}}
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
		count := server.Real(1)
		if len(d.Counts) > 0 {
			count = d.Counts[i]
		}
		if math.IsNaN(float64(count)) || count <= 0 || count > largest {
			return invalid("The value %v for parameter MetricData.member.%d.Counts.member.%d is invalid.", count, n, i+1)
		}
		if err := number(v, n, func() { to.Data.Add(float64(v), float64(count)) }); err != nil {
			return err
		}
	}
	return nil
}

// largest is the largest value that CloudWatch accepts.
const largest = 0x1p360

// number rejects values that CloudWatch does not accept, and otherwise calls add.
func number(v server.Real, n int, add func()) error {
	if math.IsNaN(float64(v)) || math.Abs(float64(v)) > largest {
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
