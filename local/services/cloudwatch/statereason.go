package cloudwatch

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"stepback/local/services/cloudwatch/datapoints"
	"stepback/local/services/cloudwatch/evaluation"
)

// compared maps comparison operators to their wording in reasons.
var compared = map[string]string{
	"GreaterThanOrEqualToThreshold": "greater than or equal to", "GreaterThanThreshold": "greater than",
	"LessThanThreshold": "less than", "LessThanOrEqualToThreshold": "less than or equal to",
}

// reason returns the reason for an alarm's state, in CloudWatch's wording.
func reason(a *alarm, rule evaluation.Rule, state string, values []float64, used []int, start time.Time) string {
	seconds := a.period()
	if state == evaluation.Insufficient {
		return fmt.Sprintf("Insufficient Data: %d datapoint%s unknown.", a.Periods, map[bool]string{true: " was", false: "s were"}[a.Periods == 1])
	}
	breaches, n := evaluation.Comparisons[a.Comparison], 0
	var shown []string
	for _, i := range used {
		breaching := breaches(values[i], a.Threshold)
		if breaching == (state == evaluation.Alarm) {
			n++
			at := start.Add(time.Duration(int64(i)*seconds) * time.Second)
			shown = append(shown, fmt.Sprintf("%s (%s)", decimal(values[i]), at.Format("02/01/06 15:04:05")))
		}
	}
	to := "ALARM -> OK"
	not := "not "
	least := rule.N - rule.M + 1
	if state == evaluation.Alarm {
		to, not, least = "OK -> ALARM", "", rule.M
	}
	if n == 0 {
		return fmt.Sprintf("Threshold Crossed: no datapoints were received for %d period%s and %d missing datapoint%s treated as "+
			"[%s].", rule.N, plural(rule.N), rule.N, map[bool]string{true: " was", false: "s were"}[rule.N == 1],
			map[bool]string{true: "Breaching", false: "NonBreaching"}[rule.Treatment == evaluation.Breaching])
	}
	if a.Datapoints == 0 { // the alarm is not of the form M of N
		return fmt.Sprintf("Threshold Crossed: %d datapoint%s [%s] %s %s%s the threshold (%s).", n, plural(n), strings.Join(shown, ", "),
			map[bool]string{true: "was", false: "were"}[n == 1], not, compared[a.Comparison], decimal(a.Threshold))
	}
	return fmt.Sprintf("Threshold Crossed: %d out of the last %d datapoint%s [%s] %s %s%s the threshold (%s) (minimum %d datapoint%s "+
		"for %s transition).", n, rule.N, plural(rule.N), strings.Join(shown, ", "), map[bool]string{true: "was", false: "were"}[n == 1],
		not, compared[a.Comparison], decimal(a.Threshold), least, plural(least), to)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// decimal formats a number as CloudWatch does, always with a decimal point.
func decimal(v float64) string {
	text := fmt.Sprint(v)
	if !strings.ContainsAny(text, ".eN") {
		text += ".0"
	}
	return text
}

const reasonTime = "2006-01-02T15:04:05.000+0000"

// reasonData returns the datapoints that an alarm evaluated, as JSON.
func reasonData(a *alarm, now, start time.Time, values []float64, sums []datapoints.Summary, used []int) string {
	type evaluated struct {
		Timestamp string   `json:"timestamp"`
		Samples   *float64 `json:"sampleCount,omitempty"`
		Value     *float64 `json:"value,omitempty"`
	}
	recent, all := []float64{}, []evaluated{}
	for _, i := range used {
		if math.IsNaN(values[i]) {
			continue
		}
		recent = append(recent, values[i])
		at := start.Add(time.Duration(int64(i)*a.period()) * time.Second)
		one := evaluated{Timestamp: at.Format(reasonTime), Value: &values[i]}
		if i < len(sums) {
			one.Samples = &sums[i].Count
		}
		all = append([]evaluated{one}, all...)
	}
	if len(used) == 0 { // missing data are listed by their times
		last := start.Add(time.Duration(int64(len(values)-1)*a.period()) * time.Second)
		for i := range a.Periods {
			at := last.Add(-time.Duration(int64(i)*a.period()) * time.Second)
			all = append(all, evaluated{Timestamp: at.Format(reasonTime)})
		}
	}
	data := map[string]any{"version": "1.0", "queryDate": now.Format(reasonTime), "period": a.period(), "recentDatapoints": recent,
		"threshold": a.Threshold, "evaluatedDatapoints": all}
	if len(used) > 0 {
		data["startDate"] = start.Add(time.Duration(int64(used[0])*a.period()) * time.Second).Format(reasonTime)
	}
	if a.Metric != nil {
		data["statistic"] = a.Metric.Stat
		if a.Metric.Unit != "" {
			data["unit"] = a.Metric.Unit
		}
	}
	text, err := json.Marshal(data)
	if err != nil {
		return ""
	}
	return string(text)
}

// composed returns the reason for a composite alarm's state, and its data: the alarm of the rule whose change led to
// the state, and the alarms that are in ALARM. If the composite is not in ALARM, the data name the alarm that changed.
func composed(a *alarm, state string, names []string, others map[string]*alarm) (reason, data string) {
	var alarming []*alarm
	var latest *alarm
	fits := false // latest is in ALARM if the composite is, and not in ALARM otherwise
	for _, name := range names {
		other := others[name]
		if other == nil {
			continue
		}
		if other.State == evaluation.Alarm {
			alarming = append(alarming, other)
		}
		alike := (other.State == evaluation.Alarm) == (state == evaluation.Alarm)
		if latest == nil || alike && !fits || alike == fits && other.Transitioned.After(latest.Transitioned) {
			latest, fits = other, alike
		}
	}
	if state != evaluation.Alarm {
		alarming = nil
		if latest != nil {
			alarming = []*alarm{latest}
		}
	}
	listed := make([]child, 0, len(alarming))
	for _, other := range alarming {
		listed = append(listed, child{other.ARN, childState{other.State, other.Transitioned.UTC().Format(reasonTime)}})
	}
	text, err := plain(map[string]any{"triggeringAlarms": listed})
	if err != nil {
		text = nil
	}
	switch {
	case a.State == evaluation.Insufficient: // its first evaluation
		return fmt.Sprintf("%s was created and its alarm rule evaluates to %s", a.ARN, state), string(text)
	case latest == nil:
		return "", string(text)
	}
	return fmt.Sprintf("%s transitioned to %s at %s", latest.ARN, latest.State, latest.Transitioned.UTC().Format(longTime)),
		string(text)
}
