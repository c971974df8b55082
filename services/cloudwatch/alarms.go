package cloudwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/services/cloudwatch/datapoints"
	"stepback/services/cloudwatch/evaluation"
	"stepback/services/documents"
)

// alarm is one as it is kept. Composite alarms have a Rule, others Metric or Metrics.
type alarm struct {
	Name, ARN, Description  string
	Enabled                 bool // its actions
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
	Comparison string `json:",omitempty"`
	Missing    string `json:",omitempty"`
	LowSamples string `json:",omitempty"`
}

func alarmKey(scope aws.Scope, name string) string { return alarmKeys + scopeKey(scope) + name }

// find reads an alarm; nil if there is none of the name.
func (s *Service) alarm(scope aws.Scope, name string) (*alarm, error) {
	text, found, err := s.table.Get(alarmKey(scope, name))
	if err != nil || !found {
		return nil, err
	}
	a := new(alarm)
	return a, json.Unmarshal(text, a)
}

// alarms reads the alarms of a scope whose names begin with prefix, in the order of their names.
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

// actions are what every alarm has.
type actions struct {
	Name         string   `json:"AlarmName"`
	Description  string   `json:"AlarmDescription"`
	Enabled      *bool    `json:"ActionsEnabled"`
	OK           []string `json:"OKActions"`
	Alarm        []string `json:"AlarmActions"`
	Insufficient []string `json:"InsufficientDataActions"`
	Tags         []tag
}

// into checks the actions and puts them into an alarm.
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
			if arn, ok := aws.ParseARN(arn); !ok || arn.Service != "sns" && arn.Service != "lambda" || !s.opts.Targets.Takes(arn.String()) {
				return &aws.Error{Code: "ValidationError", Message: "Invalid arn syntax or unsupported action: " + arn.String() +
					". Alarms act on topics and functions here."}
			}
		}
	}
	return nil
}

// put keeps an alarm that a request describes. It keeps its state, if it was there.
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
	case in.ThresholdID != "" || in.Criteria != nil:
		return nil, invalid("Alarms on anomaly detection and on PromQL are not supported here.")
	case evaluation.Comparisons[in.Comparison] == nil:
		return nil, invalid("The comparison operator %s is not supported here.", in.Comparison)
	case in.Threshold == nil:
		return nil, missing("The parameter Threshold is required.")
	case in.Periods < 1:
		return nil, missing("The parameter EvaluationPeriods is required and must be at least 1.")
	case in.Datapoints > in.Periods:
		return nil, &aws.Error{Code: "ValidationError", Message: "DatapointsToAlarm must be less than or equal to EvaluationPeriods."}
	case in.Missing != "" && !slices.Contains([]string{evaluation.Missing, evaluation.Ignore, evaluation.Breaching,
		evaluation.NotBreaching}, in.Missing):
		return nil, &aws.Error{Code: "ValidationError", Message: "Option \"" + in.Missing + "\" for parameter \"TreatMissingData\" is " +
			"invalid. Options: [breaching, notBreaching, ignore, missing]"}
	}
	a.Threshold = *in.Threshold
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

// measures says what the alarm looks at.
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
		if returned != 1 {
			return &aws.Error{Code: "ValidationError", Message: "Exactly one element of the metrics list should return data."}
		}
		a.Metrics = in.Metrics
		return nil
	}
	switch {
	case in.Metric == "" || in.Namespace == "":
		return missing("The parameters MetricName and Namespace are required.")
	case (in.Statistic == "") == (in.Extended == ""):
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

// period is that of the datapoints that a metric alarm compares, in seconds.
func (a *alarm) period() int64 {
	if a.Metric != nil {
		return a.Metric.Period
	}
	v := view{queries: a.Metrics}
	for i := range a.Metrics {
		if a.Metrics[i].returns() {
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

// alarmName is the name of an alarm that a rule names by name or ARN.
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

type tag struct{ Key, Value string }

type tagRequest struct {
	ARN  string `json:"ResourceARN"`
	Tags []tag
	Keys []string `json:"TagKeys"`
}

// tagged changes the alarm of a request about tags.
func (s *Service) tagged(in *tagRequest, f func(*alarm)) (*none, error) {
	arn, _ := aws.ParseARN(in.ARN)
	return &none{}, s.change(func(b *documents.Batch) error {
		a, err := s.alarm(arn.Scope(), alarmName(in.ARN))
		if err == nil && a == nil {
			err = noResource(in.ARN)
		}
		if err != nil {
			return err
		}
		f(a)
		return s.keep(b, arn.Scope(), a)
	})
}

func noResource(arn string) error {
	return &aws.Error{Code: "ResourceNotFoundException", Status: 404, Message: "The named resource does not exist: " + arn}
}

func (s *Service) tagResource(_ context.Context, _ aws.Scope, in *tagRequest) (*none, error) {
	return s.tagged(in, func(a *alarm) {
		if a.Tags == nil {
			a.Tags = map[string]string{}
		}
		for _, t := range in.Tags {
			a.Tags[t.Key] = t.Value
		}
	})
}

func (s *Service) untagResource(_ context.Context, _ aws.Scope, in *tagRequest) (*none, error) {
	return s.tagged(in, func(a *alarm) {
		for _, k := range in.Keys {
			delete(a.Tags, k)
		}
	})
}

type tagsAnswer struct{ Tags []tag }

func (s *Service) listTagsForResource(_ context.Context, _ aws.Scope, in *tagRequest) (*tagsAnswer, error) {
	arn, _ := aws.ParseARN(in.ARN)
	a, err := s.alarm(arn.Scope(), alarmName(in.ARN))
	if err == nil && a == nil {
		err = noResource(in.ARN)
	}
	if err != nil {
		return nil, err
	}
	answer := &tagsAnswer{[]tag{}}
	for _, k := range slices.Sorted(maps.Keys(a.Tags)) {
		answer.Tags = append(answer.Tags, tag{k, a.Tags[k]})
	}
	return answer, nil
}

// described is how an alarm is answered; metric alarms have the second half, composite ones AlarmRule.
type described struct {
	ActionsEnabled          bool
	AlarmActions            []string
	AlarmArn                string
	Configured              server.Time `json:"AlarmConfigurationUpdatedTimestamp"`
	Description             string      `json:"AlarmDescription,omitempty"`
	Name                    string      `json:"AlarmName"`
	InsufficientDataActions []string
	OKActions               []string
	Reason                  string      `json:"StateReason"`
	Data                    string      `json:"StateReasonData,omitempty"`
	Updated                 server.Time `json:"StateUpdatedTimestamp"`
	State                   string      `json:"StateValue"`
	Transitioned            server.Time `json:"StateTransitionedTimestamp"`
}

type compositeAlarm struct {
	described
	Rule string `json:"AlarmRule"`
}

type metricAlarm struct {
	described
	Metric     string      `json:"MetricName,omitempty"`
	Namespace  string      `json:",omitempty"`
	Statistic  string      `json:",omitempty"`
	Extended   string      `json:"ExtendedStatistic,omitempty"`
	Dimensions []Dimension `json:",omitempty"`
	Period     int64       `json:",omitempty"`
	Unit       string      `json:",omitempty"`
	Periods    int         `json:"EvaluationPeriods"`
	Datapoints int         `json:"DatapointsToAlarm,omitempty"`
	Threshold  float64
	Comparison string        `json:"ComparisonOperator"`
	Missing    string        `json:"TreatMissingData,omitempty"`
	LowSamples string        `json:"EvaluateLowSampleCountPercentile,omitempty"`
	Metrics    []metricQuery `json:",omitempty"`
}

func list(arns []string) []string { return append([]string{}, arns...) }

func (a *alarm) described() described {
	return described{a.Enabled, list(a.Alarm), a.ARN, server.Time(a.Configured), a.Description, a.Name,
		list(a.Insufficient),
		list(a.OK), a.Reason, a.Data, server.Time(a.Updated), a.State, server.Time(a.Transitioned)}
}

func (a *alarm) metric() metricAlarm {
	m := metricAlarm{described: a.described(), Periods: a.Periods, Datapoints: a.Datapoints, Threshold: a.Threshold,
		Comparison: a.Comparison, Missing: a.Missing, LowSamples: a.LowSamples, Metrics: a.Metrics}
	if a.Metric == nil {
		return m
	}
	m.Metric, m.Namespace, m.Dimensions = a.Metric.Metric.Name, a.Metric.Metric.Namespace, a.Metric.Metric.Dimensions
	m.Period, m.Unit = a.Metric.Period, a.Metric.Unit
	switch a.Metric.Stat {
	case "SampleCount", "Sum", "Average", "Minimum", "Maximum":
		m.Statistic = a.Metric.Stat
	default:
		m.Extended = a.Metric.Stat
	}
	return m
}

type describeAlarmsRequest struct {
	namesRequest
	Prefix       string   `json:"AlarmNamePrefix"`
	Types        []string `json:"AlarmTypes"`
	Children     string   `json:"ChildrenOfAlarmName"`
	Parents      string   `json:"ParentsOfAlarmName"`
	State        string   `json:"StateValue"`
	ActionPrefix string
	Most         int `json:"MaxRecords"`
	NextToken    string
}

type describeAlarmsAnswer struct {
	Composite []compositeAlarm `json:"CompositeAlarms"`
	Metric    []metricAlarm    `json:"MetricAlarms"`
	NextToken string           `json:",omitempty"`
}

func (s *Service) describeAlarms(_ context.Context, scope aws.Scope, in *describeAlarmsRequest) (*describeAlarmsAnswer,
	error) {
	const usual = 50
	all, err := s.alarms(scope, in.Prefix)
	if err != nil {
		return nil, err
	}
	types := in.Types
	if len(types) == 0 {
		types = []string{"MetricAlarm"}
		if len(in.Names) > 0 || in.Children != "" || in.Parents != "" {
			types = []string{"MetricAlarm", "CompositeAlarm"}
		}
	}
	related, err := s.related(scope, in, all)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a *alarm) bool {
		kind := "MetricAlarm"
		if a.Rule != "" {
			kind = "CompositeAlarm"
		}
		return !slices.Contains(types, kind) || len(in.Names) > 0 && !slices.Contains(in.Names, a.Name) ||
			in.State != "" && a.State != in.State || related != nil && !related[a.Name] ||
			in.ActionPrefix != "" && !slices.ContainsFunc(slices.Concat(a.OK, a.Alarm, a.Insufficient), func(arn string) bool {
				return strings.HasPrefix(arn, in.ActionPrefix)
			})
	})
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "alarms", scopeKey(scope), in.Prefix), in.NextToken,
		cmp.Or(in.Most, usual), all, func(a *alarm) string { return a.Name })
	if !ok {
		return nil, invalidToken()
	}
	answer := &describeAlarmsAnswer{[]compositeAlarm{}, []metricAlarm{}, next}
	for _, a := range page {
		if a.Rule != "" {
			answer.Composite = append(answer.Composite, compositeAlarm{a.described(), a.Rule})
		} else {
			answer.Metric = append(answer.Metric, a.metric())
		}
	}
	return answer, nil
}

// related are the names of the alarms that are in the rule of one, or have it in theirs; nil if a request does not ask.
func (s *Service) related(scope aws.Scope, in *describeAlarmsRequest, _ []*alarm) (map[string]bool, error) {
	if in.Children == "" && in.Parents == "" {
		return nil, nil //nolint:nilnil // documented
	}
	all, err := s.alarms(scope, "")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, a := range all {
		if a.Rule == "" {
			continue
		}
		rule, err := evaluation.ParseComposite(a.Rule)
		if err != nil {
			return nil, err
		}
		for _, name := range rule.Alarms() {
			if a.Name == in.Children {
				found[alarmName(name)] = true
			}
			if alarmName(name) == in.Parents {
				found[a.Name] = true
			}
		}
	}
	return found, nil
}

type forMetricRequest struct {
	Metric     string `json:"MetricName"`
	Namespace  string
	Statistic  string
	Extended   string `json:"ExtendedStatistic"`
	Dimensions []Dimension
	Period     int64
	Unit       string
}

type forMetricAnswer struct {
	Alarms []metricAlarm `json:"MetricAlarms"`
}

func (s *Service) describeAlarmsForMetric(_ context.Context, scope aws.Scope, in *forMetricRequest) (*forMetricAnswer,
	error) {
	m := Metric{in.Namespace, in.Metric, in.Dimensions}
	m.sorted()
	all, err := s.alarms(scope, "")
	answer := &forMetricAnswer{[]metricAlarm{}}
	for _, a := range all {
		if a.Metric != nil && a.Metric.Metric.text() == m.text() && (in.Period == 0 || in.Period == a.Metric.Period) &&
			(in.Unit == "" || in.Unit == a.Metric.Unit) &&
			(in.Statistic+in.Extended == "" || in.Statistic+in.Extended == a.Metric.Stat) {
			answer.Alarms = append(answer.Alarms, a.metric())
		}
	}
	return answer, err
}
