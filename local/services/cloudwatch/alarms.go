package cloudwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/local/services/cloudwatch/evaluation"
	"stepback/local/services/documents"
)

// alarm is the stored form of an alarm. Composite alarms have a Rule, others Metric or Metrics.
type alarm struct {
	Name, ARN, Description  string
	Enabled                 bool // whether its actions are enabled
	OK, Alarm, Insufficient []string
	Configured              time.Time
	State, Reason, Data     string
	Updated, Transitioned   time.Time
	Tags                    map[string]string `json:",omitempty"`

	Rule string `json:",omitempty"`

	Metric     *metricStat   `json:",omitempty"`
	Metrics    []metricQuery `json:",omitempty"`
	Periods    int           `json:",omitempty"` // EvaluationPeriods
	Datapoints int           `json:",omitempty"` // DatapointsToAlarm, if it was given
	Threshold  float64
	Band       string `json:",omitempty"` // ThresholdMetricId: the ID of the band that replaces the threshold
	Comparison string `json:",omitempty"`
	Missing    string `json:",omitempty"`
	LowSamples string `json:",omitempty"`
}

func alarmKey(scope aws.Scope, name string) string { return alarmKeys + scopeKey(scope) + name }

// alarm returns an alarm; nil if there is none with the name.
func (s *Service) alarm(scope aws.Scope, name string) (*alarm, error) {
	text, found, err := s.table.Get(alarmKey(scope, name))
	if err != nil || !found {
		return nil, err
	}
	a := new(alarm)
	return a, json.Unmarshal(text, a)
}

// alarms returns the alarms of a scope whose names begin with prefix, sorted by name.
func (s *Service) alarms(scope aws.Scope, prefix string) (all []*alarm, err error) {
	return all, s.table.Scan(alarmKey(scope, prefix), func(_ string, text []byte) error {
		a := new(alarm)
		all = append(all, a)
		return json.Unmarshal(text, a)
	})
}

func (s *Service) keep(b *documents.Batch, scope aws.Scope, a *alarm) error {
	text, err := json.Marshal(a)
	if err == nil {
		b.Put(s.table, alarmKey(scope, a.Name), text)
	}
	return err
}

// actions holds the members that requests for all kinds of alarms share.
type actions struct {
	Name         string   `json:"AlarmName"`
	Description  string   `json:"AlarmDescription"`
	Enabled      *bool    `json:"ActionsEnabled"`
	OK           []string `json:"OKActions"`
	Alarm        []string `json:"AlarmActions"`
	Insufficient []string `json:"InsufficientDataActions"`
	Tags         []tag
}

// into checks the actions and copies them to an alarm.
func (in *actions) into(s *Service, a *alarm) error {
	const most = 5
	a.Name, a.Description, a.Enabled = in.Name, in.Description, in.Enabled == nil || *in.Enabled
	a.OK, a.Alarm, a.Insufficient = in.OK, in.Alarm, in.Insufficient
	for what, list := range map[string][]string{"OKActions": in.OK, "AlarmActions": in.Alarm,
		"InsufficientDataActions": in.Insufficient} {
		if len(list) > most {
			return invalid("The collection %s must not have a size greater than %d.", what, most)
		}
		for _, arn := range list {
			if parsed, ok := aws.ParseARN(arn); !ok || parsed.Service != "sns" && parsed.Service != "lambda" || !s.opts.Targets.Takes(arn) {
				return &aws.Error{Code: "ValidationError", Message: "Invalid arn syntax or unsupported action: " + arn +
					". Alarms act on topics and functions here."}
			}
		}
	}
	return nil
}

// put stores a requested alarm. An existing alarm keeps its state.
func (s *Service) put(scope aws.Scope, a *alarm, tags []tag) error {
	err := s.change(func(b *documents.Batch) error {
		before, err := s.alarm(scope, a.Name)
		if err != nil {
			return err
		}
		now, summary := s.opts.Clock.Now(), fmt.Sprintf("Alarm %q created", a.Name)
		a.ARN, a.Configured = scope.ARN("cloudwatch", "alarm:"+a.Name), now
		a.State, a.Reason, a.Updated, a.Transitioned = evaluation.Insufficient, "Unchecked: Initial alarm creation", now, now
		if before != nil {
			if (before.Rule == "") != (a.Rule == "") {
				return &aws.Error{Code: "ValidationError", Message: "An alarm of another type has the name " + a.Name + "."}
			}
			a.State, a.Reason, a.Data, a.Updated, a.Transitioned = before.State, before.Reason, before.Data,
				before.Updated, before.Transitioned
			a.Tags, summary = before.Tags, fmt.Sprintf("Alarm %q updated", a.Name)
		} else {
			for _, t := range tags {
				if a.Tags == nil {
					a.Tags = map[string]string{}
				}
				a.Tags[t.Key] = t.Value
			}
		}
		s.note(b, scope, a, configurationUpdate, summary, map[string]any{"version": "1.0", "type": "Update"})
		return s.keep(b, scope, a)
	})
	if err == nil {
		s.watch()
	}
	return err
}

type putMetricAlarmRequest struct {
	actions
	Metric      string `json:"MetricName"`
	Namespace   string
	Statistic   string
	Extended    string `json:"ExtendedStatistic"`
	Dimensions  []Dimension
	Period      int64
	Unit        string
	Periods     int `json:"EvaluationPeriods"`
	Datapoints  int `json:"DatapointsToAlarm"`
	Threshold   *float64
	Comparison  string `json:"ComparisonOperator"`
	Missing     string `json:"TreatMissingData"`
	LowSamples  string `json:"EvaluateLowSampleCountPercentile"`
	Metrics     []metricQuery
	ThresholdID string    `json:"ThresholdMetricId"`
	Criteria    *struct{} `json:"EvaluationCriteria"`
}

func (s *Service) putMetricAlarm(_ context.Context, scope aws.Scope, in *putMetricAlarmRequest) (*none, error) {
	a := &alarm{Periods: in.Periods, Datapoints: in.Datapoints, Comparison: in.Comparison, Missing: in.Missing,
		LowSamples: in.LowSamples}
	if err := in.into(s, a); err != nil {
		return nil, err
	}
	switch {
	case in.Criteria != nil:
		return nil, invalid("Alarms on PromQL are not supported here.")
	case in.ThresholdID != "" && in.Threshold != nil:
		return nil, combination("The parameters Threshold and ThresholdMetricId cannot be given together.")
	case in.ThresholdID != "" && bandComparisons[in.Comparison] == "":
		return nil, invalid("The comparison operator %s cannot be used with ThresholdMetricId.", in.Comparison)
	case in.ThresholdID != "": // the band is checked together with the metrics
	case evaluation.Comparisons[in.Comparison] == nil:
		return nil, invalid("The comparison operator %s is not supported here.", in.Comparison)
	case in.Threshold == nil:
		return nil, missing("The parameter Threshold is required.")
	}
	switch {
	case in.Periods < 1:
		return nil, missing("The parameter EvaluationPeriods is required and must be at least 1.")
	case in.Datapoints > in.Periods:
		return nil, &aws.Error{Code: "ValidationError", Message: "DatapointsToAlarm must be less than or equal to EvaluationPeriods."}
	case in.Missing != "" && !slices.Contains([]string{evaluation.Missing, evaluation.Ignore, evaluation.Breaching,
		evaluation.NotBreaching}, in.Missing):
		return nil, &aws.Error{Code: "ValidationError", Message: "Option \"" + in.Missing + "\" for parameter \"TreatMissingData\" is " +
			"invalid. Options: [breaching, notBreaching, ignore, missing]"}
	case in.LowSamples != "" && in.LowSamples != "evaluate" && in.LowSamples != "ignore":
		return nil, &aws.Error{Code: "ValidationError", Message: "Option \"" + in.LowSamples + "\" for parameter " +
			"\"EvaluateLowSampleCountPercentile\" is invalid. Options: [evaluate, ignore]"}
	}
	if in.Threshold != nil {
		a.Threshold = *in.Threshold
	}
	a.Band = in.ThresholdID
	if err := in.measures(a); err != nil {
		return nil, err
	}
	const day, week = 86_400, 7 * 86_400
	if span := a.period() * int64(a.Periods); a.period() < 3600 && span > day || span > week {
		return nil, &aws.Error{Code: "ValidationError", Message: "Metrics cannot be checked across more than a day " +
			"(EvaluationPeriods * Period must be <= 86400), or a week if the period is at least an hour."}
	}
	return &none{}, s.put(scope, a, in.Tags)
}

// measures sets the metrics that the alarm evaluates.
func (in *putMetricAlarmRequest) measures(a *alarm) error {
	if len(in.Metrics) > 0 {
		if in.Metric != "" || in.Namespace != "" || in.Period != 0 {
			return combination("The parameters MetricName, Namespace and Period cannot be given with Metrics.")
		}
		if err := checkQueries("Metrics", in.Metrics); err != nil {
			return err
		}
		returned := 0
		for i := range in.Metrics {
			if in.Metrics[i].returns() {
				returned++
			}
		}
		if in.ThresholdID != "" {
			a.Metrics = in.Metrics
			if err := a.checkBand(); err != nil {
				return err
			}
			return a.checkMath()
		}
		if returned != 1 {
			return &aws.Error{Code: "ValidationError", Message: "Exactly one element of the metrics list should return data."}
		}
		a.Metrics = in.Metrics
		return a.checkMath()
	}
	switch {
	case in.ThresholdID != "":
		return missing("The parameter Metrics is required with ThresholdMetricId.")
	case in.Metric == "" || in.Namespace == "":
		return missing("The parameters MetricName and Namespace are required.")
	case in.Statistic != "" && in.Extended != "":
		return combination("The parameters Statistic and ExtendedStatistic are mutually exclusive and you have specified both.")
	case in.Statistic == "" && in.Extended == "":
		return missing("Exactly one of Statistic and ExtendedStatistic must be given.")
	}
	if err := checkPeriod(in.Period); err != nil {
		return err
	}
	a.Metric = &metricStat{Metric{in.Namespace, in.Metric, in.Dimensions}, in.Period, cmp.Or(in.Statistic,
		in.Extended), in.Unit}
	a.Metric.Metric.sorted()
	if _, err := datapoints.ParseStatistic(a.Metric.Stat); err != nil {
		return invalid("The value %s for parameter ExtendedStatistic is invalid.", in.Extended)
	}
	return nil
}

// period returns the period in seconds of the datapoints that a metric alarm compares.
func (a *alarm) period() int64 {
	if a.Metric != nil {
		return a.Metric.Period
	}
	v := view{queries: a.Metrics}
	for i := range a.Metrics {
		if a.Metrics[i].returns() && a.Metrics[i].ID != a.Band {
			return v.period(&a.Metrics[i])
		}
	}
	return 60
}

type putCompositeAlarmRequest struct {
	actions
	Rule       string  `json:"AlarmRule"`
	Suppressor *string `json:"ActionsSuppressor"`
}

func (s *Service) putCompositeAlarm(_ context.Context, scope aws.Scope, in *putCompositeAlarmRequest) (*none, error) {
	if in.Suppressor != nil {
		return nil, invalid("Suppressors of actions are not supported here.")
	}
	a := &alarm{Rule: in.Rule}
	if err := in.into(s, a); err != nil {
		return nil, err
	}
	rule, err := evaluation.ParseComposite(in.Rule)
	if err != nil {
		return nil, &aws.Error{Code: "ValidationError", Message: "AlarmRule must not contain invalid expressions: " + err.Error()}
	}
	for _, name := range rule.Alarms() {
		if other, err := s.alarm(scope, alarmName(name)); err != nil || other == nil || other.Name == in.Name {
			if err == nil {
				err = &aws.Error{Code: "ValidationError", Message: "Could not save the composite alarm as alarms " + name +
					" in the alarm rule do not exist"}
			}
			return nil, err
		}
	}
	return &none{}, s.put(scope, a, in.Tags)
}

// alarmName returns the name of an alarm that a rule gives as name or ARN.
func alarmName(text string) string {
	if arn, ok := aws.ParseARN(text); ok {
		return strings.TrimPrefix(arn.Resource, "alarm:")
	}
	return text
}

type namesRequest struct {
	Names []string `json:"AlarmNames"`
}

func (s *Service) deleteAlarms(_ context.Context, scope aws.Scope, in *namesRequest) (*none, error) {
	return &none{}, s.change(func(b *documents.Batch) error {
		all, err := s.alarms(scope, "")
		if err != nil {
			return err
		}
		for _, a := range all {
			if slices.Contains(in.Names, a.Name) || a.Rule == "" {
				continue
			}
			rule, err := evaluation.ParseComposite(a.Rule)
			if err != nil {
				return err
			}
			for _, name := range rule.Alarms() {
				if slices.Contains(in.Names, alarmName(name)) {
					return &aws.Error{Code: "ValidationError", Message: "Cannot delete " + alarmName(name) + " as there are composite alarm(s) " +
						"depending on it: " + a.Name}
				}
			}
		}
		for _, name := range in.Names {
			b.Delete(s.table, alarmKey(scope, name))
			b.DeleteAll(s.table, historyKeys+scopeKey(scope)+name+"\x00")
		}
		return nil
	})
}

func (s *Service) enableAlarmActions(_ context.Context, scope aws.Scope, in *namesRequest) (*none, error) {
	return s.switched(scope, in, true)
}

func (s *Service) disableAlarmActions(_ context.Context, scope aws.Scope, in *namesRequest) (*none, error) {
	return s.switched(scope, in, false)
}

func (s *Service) switched(scope aws.Scope, in *namesRequest, enabled bool) (*none, error) {
	return &none{}, s.change(func(b *documents.Batch) error {
		for _, name := range in.Names {
			a, err := s.alarm(scope, name)
			if err != nil {
				return err
			}
			if a == nil {
				continue
			}
			a.Enabled = enabled
			if err := s.keep(b, scope, a); err != nil {
				return err
			}
		}
		return nil
	})
}

type setAlarmStateRequest struct {
	Name   string `json:"AlarmName"`
	State  string `json:"StateValue"`
	Reason string `json:"StateReason"`
	Data   string `json:"StateReasonData"`
}

func (s *Service) setAlarmState(_ context.Context, scope aws.Scope, in *setAlarmStateRequest) (*none, error) {
	if in.Data != "" && !json.Valid([]byte(in.Data)) {
		return nil, &aws.Error{Code: "InvalidFormatFault", Message: "StateReasonData was not valid JSON"}
	}
	err := s.turn(scope, in.Name, func(*alarm) (string, string, string) { return in.State, in.Reason, in.Data })
	if errors.Is(err, errNoAlarm) {
		err = notFound("%s not found", in.Name)
	}
	if err == nil {
		s.watch()
		s.hurry()
	}
	return &none{}, err
}
