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

// MetricDatum is a value of a metric.
type MetricDatum struct {
	Namespace, Metric string
	Unit              string // "" where the filter says nothing
	Dimensions        map[string]string
	At                time.Time
	Value             float64
}

// MetricFilters makes metric data of the events that metric filters match. The zero value is ready. It is safe for
// concurrent use.
type MetricFilters struct {
	patterns patterns
	mu       sync.Mutex
	minutes  map[filterKey]filteredMinute
}

type filterKey struct {
	scope         aws.Scope
	group, filter string
}

// filteredMinute is the newest minute with events that a filter with a default value has seen.
type filteredMinute struct {
	minute  int64 // since 1970
	matched bool
	missing MetricDatum // if none of them matches
}

// Appended makes metric data of events that are added to a group. Default values come later, with Due.
func (m *MetricFilters) Appended(scope aws.Scope, g logstore.Group, events []logstore.Event) (data []MetricDatum) {
	for i := range g.MetricFilters {
		f := &g.MetricFilters[i]
		matches, err := m.patterns.find(f.Pattern)
		if err != nil {
			continue // it was checked when it was put
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

// note notes an event for a filter with a default value. It returns that of the minute before, if none matched there.
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

// Due returns the default values of the minutes that are over and had events of which none matched.
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

// datumOf is what a filter makes of an event that it matches; nothing if the event has no number or lacks a dimension.
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
