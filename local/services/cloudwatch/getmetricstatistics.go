package cloudwatch

import (
	"context"
	"slices"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/retrymetrics/metricmath"
)

type getMetricStatisticsRequest struct {
	Namespace  string
	Name       string `json:"MetricName"`
	Dimensions []Dimension
	Start      float64 `json:"StartTime"`
	End        float64 `json:"EndTime"`
	Period     int64
	Statistics []string
	Extended   []string `json:"ExtendedStatistics"`
	Unit       string
}

type datapoint struct {
	Timestamp   server.Time
	SampleCount *float64           `json:",omitempty"`
	Average     *float64           `json:",omitempty"`
	Sum         *float64           `json:",omitempty"`
	Minimum     *float64           `json:",omitempty"`
	Maximum     *float64           `json:",omitempty"`
	Unit        string             `json:",omitempty"`
	Extended    map[string]float64 `json:"ExtendedStatistics,omitempty"`
}

type getMetricStatisticsAnswer struct {
	Label      string
	Datapoints []datapoint
}

func (s *Service) getMetricStatistics(_ context.Context, scope aws.Scope, in *getMetricStatisticsRequest) (
	*getMetricStatisticsAnswer, error) {
	const most = 1440
	start, end := timeOf(in.Start), timeOf(in.End)
	switch {
	case len(in.Statistics) == 0 && len(in.Extended) == 0:
		return nil, missing("Must specify either Statistics or ExtendedStatistics")
	case len(in.Statistics) > 0 && len(in.Extended) > 0:
		return nil, combination("The parameters Statistics and ExtendedStatistics are mutually exclusive and you have specified both.")
	case !start.Before(end):
		return nil, combination("The parameter StartTime must be less than the parameter EndTime.")
	}
	if err := checkPeriod(in.Period); err != nil {
		return nil, err
	}
	if n := (end.Unix() - start.Unix()) / in.Period; n > most {
		return nil, combination("You have requested up to %d datapoints, which exceeds the limit of 1,440. You may reduce the "+
			"datapoints requested by increasing Period, or decreasing the time range.", n)
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	m := Metric{in.Namespace, in.Name, in.Dimensions}
	m.sorted()
	grid := s.view(scope, nil, start, end).gridOf(in.Period)
	units, err := s.units(scope, &m, in.Unit)
	if err != nil {
		return nil, err
	}
	answer := &getMetricStatisticsAnswer{in.Name, []datapoint{}}
	for _, unit := range units { // data of different units are not combined
		all, err := s.read(scope, &m, unit, grid.Start, time.Duration(in.Period)*time.Second, grid.Len)
		if err == nil {
			err = in.datapoints(answer, grid, all)
		}
		if err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// datapoints adds the statistics of summaries to a response.
func (in *getMetricStatisticsRequest) datapoints(answer *getMetricStatisticsAnswer, grid metricmath.Grid, all []datapoints.Summary) error {
	for i := range all {
		if all[i].Count == 0 {
			continue
		}
		d := datapoint{Timestamp: server.Time(grid.At(i)), Unit: all[i].Unit}
		for name, to := range map[string]**float64{"SampleCount": &d.SampleCount, "Average": &d.Average, "Sum": &d.Sum,
			"Minimum": &d.Minimum, "Maximum": &d.Maximum} {
			if slices.Contains(in.Statistics, name) {
				v, err := statisticOf(name, &all[i])
				if err != nil {
					return err
				}
				*to = &v
			}
		}
		for _, name := range in.Extended {
			v, err := statisticOf(name, &all[i])
			if err != nil {
				return err
			}
			if d.Extended == nil {
				d.Extended = map[string]float64{}
			}
			if v == v { // it is not NaN
				d.Extended[name] = v
			}
		}
		answer.Datapoints = append(answer.Datapoints, d)
	}
	return nil
}

func statisticOf(name string, s *datapoints.Summary) (float64, error) {
	statistic, err := datapoints.ParseStatistic(name)
	if err != nil {
		return 0, invalid("The value %s for parameter ExtendedStatistics.member.1 is invalid.", name)
	}
	return statistic.Of(s), nil
}
