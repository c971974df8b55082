package cloudwatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/local/services/cloudwatch/evaluation"
	"stepback/local/services/documents"
)

// delay is the time between the end of a period and its evaluation, because data may arrive late.
const delay = 2 * time.Second

// watch evaluates alarms on one goroutine, which starts with the first alarm.
type watch struct {
	ctx    context.Context
	stop   context.CancelFunc
	wake   chan struct{}
	ending sync.WaitGroup

	mu      sync.Mutex
	begun   bool
	timer   *clock.Timer
	holding bool      // the clock, because a round is about to run
	aged    time.Time // time at which data were last aggregated
}

func (w *watch) begin() {
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.wake = make(chan struct{}, 1)
}

// end stops the evaluation and waits for the round that runs. A round that was about to run no longer holds the clock.
func (s *Service) end() {
	w := &s.watching
	w.mu.Lock() // watch starts nothing from here on
	w.stop()
	w.mu.Unlock()
	w.ending.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.holding {
		w.holding = false
		s.opts.Clock.Release()
	}
}

// watch starts the evaluation of alarms.
func (s *Service) watch() {
	w := &s.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun || w.ctx.Err() != nil {
		return
	}
	w.begun = true
	w.ending.Go(s.rounds)
	s.schedule()
}

// often is the interval between rounds: the shortest period of an alarm.
const often = 10 * time.Second

// schedule schedules the next round. The caller holds the mu of watching.
func (s *Service) schedule() {
	at := s.opts.Clock.Now().Add(-delay).Truncate(often).Add(often + delay)
	s.watching.timer = s.opts.Clock.ScheduleInBackground(at, clock.AlarmFunc(s.ring))
}

// ring starts a round and schedules the next one.
func (s *Service) ring() {
	s.hurry()
	w := &s.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() == nil {
		s.schedule()
	}
}

// hurry starts a round now. Virtual time does not advance until it has run.
func (s *Service) hurry() {
	w := &s.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holding || !w.begun || w.ctx.Err() != nil {
		return
	}
	w.holding = true
	s.opts.Clock.Hold()
	w.wake <- struct{}{}
}

// rounds runs rounds until the service is closed.
func (s *Service) rounds() {
	w := &s.watching
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.wake:
		}
		w.mu.Lock()
		w.holding = false
		w.mu.Unlock()
		if err := s.round(w.ctx, s.opts.Clock.Now()); err != nil && w.ctx.Err() == nil && !errors.Is(err,
			documents.ErrClosed) {
			s.opts.Log.Error("alarms could not be evaluated", "error", err)
		}
		s.opts.Clock.Release()
	}
}

// round evaluates the alarms that are due, and delivers pending actions.
func (s *Service) round(ctx context.Context, now time.Time) error {
	if err := s.measure(); err != nil {
		return err
	}
	type placed struct {
		scope aws.Scope
		*alarm
	}
	var metrics, composites []placed
	if err := s.table.Scan(alarmKeys, func(key string, text []byte) error {
		parts := strings.SplitN(key, "/", 4)
		a := new(alarm)
		if err := json.Unmarshal(text, a); err != nil {
			return err
		}
		p := placed{aws.Scope{Account: parts[1], Region: parts[2]}, a}
		if a.Rule == "" {
			metrics = append(metrics, p)
		} else {
			composites = append(composites, p)
		}
		return nil
	}); err != nil {
		return err
	}
	ends, err := s.due(now)
	if err != nil {
		return err
	}
	for i, end := range ends {
		for _, p := range metrics {
			if missed := i < len(ends)-1; missed && end.Before(p.Configured) {
				continue
			}
			if err := s.evaluate(p.scope, p.alarm, end); err != nil && !errors.Is(err, errNoAlarm) {
				s.opts.Log.Error("an alarm could not be evaluated", "alarm", p.ARN, "error", err)
			}
		}
	}
	if err := s.evaluated(ends[len(ends)-1]); err != nil {
		return err
	}
	for range composites { // a composite alarm may be in the rule of another one
		changed := false
		for _, p := range composites {
			turned, err := s.compose(p.scope, p.Name)
			if err != nil && !errors.Is(err, errNoAlarm) {
				return err
			}
			changed = changed || turned
		}
		if !changed {
			break
		}
	}
	if err := s.deliver(ctx, now); err != nil {
		return err
	}
	if now.Sub(s.watching.aged) > time.Hour {
		s.watching.aged = now
		return s.age(now)
	}
	return nil
}

// longestMiss is the maximum age of missed rounds that are made up for.
const longestMiss = time.Hour

// due returns the ends of the ten-second periods that a round at the time now has to evaluate: the last one, and
// before it those that were not evaluated because the process was not running or died.
func (s *Service) due(now time.Time) ([]time.Time, error) {
	last := now.Add(-delay).Truncate(often)
	text, found, err := s.table.Get(evaluatedKey)
	if err != nil || !found {
		return []time.Time{last}, err
	}
	seconds, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("when alarms were evaluated: %w", err)
	}
	first := time.Unix(seconds, 0).Add(often)
	if earliest := last.Add(-longestMiss); first.Before(earliest) {
		first = earliest
	}
	var ends []time.Time
	for at := first; at.Before(last); at = at.Add(often) {
		ends = append(ends, at)
	}
	return append(ends, last), nil
}

// evaluated stores the time up to which alarms have been evaluated.
func (s *Service) evaluated(end time.Time) error {
	return s.opts.Documents.Write(func(b *documents.Batch) error {
		b.Put(s.table, evaluatedKey, strconv.AppendInt(nil, end.Unix(), 10))
		return nil
	})
}

// evaluate evaluates a metric alarm on the data up to the end of a ten-second period.
func (s *Service) evaluate(scope aws.Scope, a *alarm, last time.Time) error {
	seconds := a.period()
	if last.Unix()%min(seconds, 60) != 0 && seconds > 10 {
		return nil // alarms with long periods are evaluated every minute
	}
	now, n := last.Add(delay), a.Periods+evaluation.Margin
	end := time.Unix(last.Unix()/seconds*seconds, 0).UTC()
	start := end.Add(-time.Duration(int64(n)*seconds) * time.Second)
	queries := a.Metrics
	if a.Metric != nil {
		queries = []metricQuery{{ID: "m", MetricStat: a.Metric}}
	}
	v := s.view(scope, queries, start, end)
	var values []float64
	for i := range queries {
		if !queries[i].returns() || queries[i].ID == a.Band {
			continue
		}
		_, all, err := v.query(&queries[i])
		if err != nil {
			return err
		}
		if len(all) != 1 {
			return fmt.Errorf("the expression %s has %d series", queries[i].ID, len(all))
		}
		values = all[0].Values
	}
	m := a.Datapoints
	if m == 0 {
		m = a.Periods
	}
	rule := evaluation.Rule{M: m, N: a.Periods, Treatment: a.Missing, Comparison: a.Comparison, Threshold: a.Threshold}
	if a.Band != "" {
		return s.evaluateBand(scope, a, v, values, rule, now, start)
	}
	if state, _ := rule.Decide(a.State, values); state == a.State {
		return nil
	}
	sums := s.samples(scope, a, start, len(values))
	return s.turn(scope, a.Name, func(kept *alarm) (string, string, string) {
		if !kept.Configured.Equal(a.Configured) {
			return kept.State, "", "" // the alarm has been changed in the meantime
		}
		state, used := rule.Decide(kept.State, values)
		return state, reason(a, rule, state, values, used, start), reasonData(a, now, start, values, sums, used)
	})
}

// samples returns the summaries that a metric alarm evaluated, whose sample counts appear in reasons; nil for
// expressions.
func (s *Service) samples(scope aws.Scope, a *alarm, start time.Time, n int) []datapoints.Summary {
	if a.Metric == nil {
		return nil
	}
	sums, err := s.read(scope, &a.Metric.Metric, a.Metric.Unit, start, time.Duration(a.period())*time.Second, n)
	if err != nil {
		return nil // the reason then has no sample counts
	}
	return sums
}

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

// compose evaluates a composite alarm, and reports whether its state changed.
func (s *Service) compose(scope aws.Scope, name string) (turned bool, err error) {
	return turned, s.turn(scope, name, func(a *alarm) (string, string, string) {
		rule, err := evaluation.ParseComposite(a.Rule)
		if err != nil {
			return a.State, "", ""
		}
		others := map[string]*alarm{}
		for _, name := range rule.Alarms() {
			if other, err := s.alarm(scope, alarmName(name)); err == nil && other != nil {
				others[name] = other
			}
		}
		state := evaluation.OK
		if rule.Fires(func(name string) string {
			if other := others[name]; other != nil {
				return other.State
			}
			return ""
		}) {
			state = evaluation.Alarm
		}
		turned = state != a.State
		reason, data := composed(a, state, rule.Alarms(), others)
		return state, reason, data
	})
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
