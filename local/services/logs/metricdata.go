package logs

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"
	"time"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

// MetricDatum is a data point of a metric.
type MetricDatum struct {
	Namespace, Metric string
	Unit              string // "" if the filter sets none
	Dimensions        map[string]string
	At                time.Time
	Value             float64
}

// MetricFilters converts events that match metric filters to metric data. The zero value is ready to use. It is safe
// for concurrent use.
type MetricFilters struct {
	patterns patterns
	mu       sync.Mutex
	minutes  map[filterKey]filteredMinute
}

type filterKey struct {
	scope         aws.Scope
	group, filter string
}

// filteredMinute records the newest minute in which a filter with a default value has seen events.
type filteredMinute struct {
	minute  int64 // minutes since 1970
	matched bool
	missing MetricDatum // sent if no event matches
}

// Appended returns the metric data of events that are added to a group. Default values are not included: Due
// returns them later.
func (m *MetricFilters) Appended(scope aws.Scope, g logstore.Group, events []logstore.Event) (data []MetricDatum) {
	for i := range g.MetricFilters {
		f := &g.MetricFilters[i]
		matches, err := m.patterns.find(f.Pattern)
		if err != nil {
			continue // it was validated when it was put
		}
		for j := range events {
			e := &events[j]
			matched := matches(e.Message)
			if f.Default != nil {
				data = append(data, m.note(filterKey{scope, g.Name, f.Name}, f, e, matched)...)
			}
			if d, ok := datumOf(f, e); matched && ok {
				data = append(data, d)
			}
		}
	}
	return data
}

// note records an event for a filter with a default value. If the previous minute had events but none matched, it
// returns that minute's default value.
func (m *MetricFilters) note(k filterKey, f *logstore.MetricFilter, e *logstore.Event, matched bool) (
	data []MetricDatum) {
	at := time.UnixMilli(e.Time).UTC().Truncate(time.Minute)
	minute := at.Unix() / 60
	m.mu.Lock()
	defer m.mu.Unlock()
	noted, found := m.minutes[k]
	switch {
	case found && minute < noted.minute:
		return nil
	case found && minute == noted.minute:
		matched = matched || noted.matched
	case found && !noted.matched:
		data = []MetricDatum{noted.missing}
	}
	if m.minutes == nil {
		m.minutes = map[filterKey]filteredMinute{}
	}
	m.minutes[k] = filteredMinute{minute, matched,
		MetricDatum{Namespace: f.Namespace, Metric: f.Metric, Unit: f.Unit, At: at, Value: *f.Default}}
	return data
}

// Due returns the default values of past minutes that had events, none of which matched.
func (m *MetricFilters) Due(now time.Time) map[aws.Scope][]MetricDatum {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.minutes) == 0 {
		return nil
	}
	due := map[aws.Scope][]MetricDatum{}
	for k, noted := range m.minutes {
		if noted.minute >= now.Unix()/60 {
			continue
		}
		if !noted.matched {
			due[k.scope] = append(due[k.scope], noted.missing)
		}
		delete(m.minutes, k)
	}
	return due
}

// datumOf returns a filter's data point for a matching event. ok is false if the event lacks the number or a
// dimension.
func datumOf(f *logstore.MetricFilter, e *logstore.Event) (d MetricDatum, ok bool) {
	d = MetricDatum{Namespace: f.Namespace, Metric: f.Metric, Unit: f.Unit, At: time.UnixMilli(e.Time).UTC()}
	value, err := strconv.ParseFloat(f.Value, 64)
	if err == nil && len(f.Dimensions) == 0 {
		d.Value = value
		return d, true
	}
	var document any
	if json.Unmarshal([]byte(e.Message), &document) != nil {
		return d, false
	}
	field := func(of string) (text string) {
		if selected, ok := selector(of); ok {
			if v, found := selected(document); found && v != nil {
				return textOf(v)
			}
		}
		return ""
	}
	if err != nil {
		value, err = strconv.ParseFloat(field(f.Value), 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return d, false
		}
	}
	d.Value = value
	for name, of := range f.Dimensions {
		text := field(of)
		if text == "" {
			return d, false
		}
		if d.Dimensions == nil {
			d.Dimensions = map[string]string{}
		}
		d.Dimensions[name] = text
	}
	return d, true
}
