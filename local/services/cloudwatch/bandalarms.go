package cloudwatch

import (
	"fmt"
	"math"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/cloudwatch/evaluation"
)

// bandComparisons maps the operators that compare a datapoint with a band to their wording in reasons.
var bandComparisons = map[string]string{
	"LessThanLowerOrGreaterThanUpperThreshold": "less than the lower thresholds [LOWER] or greater than the upper thresholds [UPPER]",
	"LessThanLowerThreshold":                   "less than the lower thresholds [LOWER]",
	"GreaterThanUpperThreshold":                "greater than the upper thresholds [UPPER]",
}

// checkBand rejects an alarm whose ThresholdMetricId is not a band over another of its metrics.
func (a *alarm) checkBand() error {
	v := view{queries: a.Metrics}
	band := v.find(a.Band)
	if band == nil {
		return &aws.Error{Code: "ValidationError", Message: "The ThresholdMetricId " + a.Band + " is not the Id of one of the Metrics."}
	}
	id, _, ok := bandOf(band.Expression)
	if !ok || v.find(id) == nil {
		return &aws.Error{Code: "ValidationError", Message: "The metric " + a.Band + " of ThresholdMetricId must be an " +
			"ANOMALY_DETECTION_BAND of another of the Metrics."}
	}
	returned := 0
	for i := range a.Metrics {
		if a.Metrics[i].returns() && a.Metrics[i].ID != a.Band {
			returned++
		}
	}
	if returned != 1 {
		return &aws.Error{Code: "ValidationError", Message: "Exactly one element of the metrics list other than the band should return data."}
	}
	return nil
}

// evaluateBand evaluates an alarm that compares with a band. A datapoint without a band, because there are too few
// values, counts as missing.
func (s *Service) evaluateBand(scope aws.Scope, a *alarm, v *view, values []float64, rule evaluation.Rule, now, start time.Time) error {
	_, ends, err := v.query(v.find(a.Band))
	if err != nil {
		return err
	}
	outside := make([]float64, len(values))
	for i, x := range values {
		upper, lower := ends[0].Values[i], ends[1].Values[i]
		switch {
		case math.IsNaN(x) || math.IsNaN(upper):
			outside[i] = math.NaN()
		case x < lower && a.Comparison != "GreaterThanUpperThreshold", x > upper && a.Comparison != "LessThanLowerThreshold":
			outside[i] = 1
		}
	}
	const half = 0.5
	rule.Comparison, rule.Threshold = "GreaterThanThreshold", half
	if state, _ := rule.Decide(a.State, outside); state == a.State {
		return nil
	}
	sums := s.samples(scope, a, start, len(values))
	return s.turn(scope, a.Name, func(kept *alarm) (string, string, string) {
		if !kept.Configured.Equal(a.Configured) {
			return kept.State, "", "" // the alarm has been changed in the meantime
		}
		state, used := rule.Decide(kept.State, outside)
		return state, bandReason(a, rule, state, values, outside, ends[1].Values, ends[0].Values, used, start),
			reasonData(a, now, start, values, sums, used)
	})
}

// bandReason returns the reason for the state of an alarm on a band.
func bandReason(a *alarm, rule evaluation.Rule, state string, values, outside, lower, upper []float64, used []int, start time.Time) string {
	if state == evaluation.Insufficient || len(used) == 0 {
		return reason(a, rule, state, values, used, start)
	}
	var shown, low, high []string
	for _, i := range used {
		if (outside[i] == 1) == (state == evaluation.Alarm) {
			at := start.Add(time.Duration(int64(i)*a.period()) * time.Second)
			shown = append(shown, fmt.Sprintf("%s (%s)", decimal(values[i]), at.Format("02/01/06 15:04:05")))
			low, high = append(low, decimal(lower[i])), append(high, decimal(upper[i]))
		}
	}
	n, to, not, least := len(shown), "ALARM -> OK", "not ", rule.N-rule.M+1
	if state == evaluation.Alarm {
		to, not, least = "OK -> ALARM", "", rule.M
	}
	how := strings.NewReplacer("LOWER", strings.Join(low, ", "), "UPPER", strings.Join(high, ", ")).
		Replace(bandComparisons[a.Comparison])
	return fmt.Sprintf("Thresholds Crossed: %d out of the last %d datapoint%s [%s] %s %s%s (minimum %d datapoint%s for %s transition).",
		n, rule.N, plural(rule.N), strings.Join(shown, ", "), map[bool]string{true: "was", false: "were"}[n == 1], not, how, least,
		plural(least), to)
}
