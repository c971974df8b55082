package cloudwatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
