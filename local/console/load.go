package console

import (
	"fmt"
	"math"
	"time"

	"stepback/retrymetrics"
)

// Load shows how much work retries add: attempts, and how many of them failed and were retried, over the last hours.
type Load struct {
	Attempts int64 `json:"attempts"`
	Failed   int64 `json:"failed"`
	Retried  int64 `json:"retried"`
	// Bars are the shares of attempts that failed, in percent, by time.
	Bars []LoadBar `json:"bars,omitempty"`
}

// LoadBar is one interval of time.
type LoadBar struct {
	Attempts int64   `json:"attempts"`
	Failed   int64   `json:"failed"`
	X        float64 `json:"-"`
	High     float64 `json:"-"`
	Top      float64 `json:"-"`
	BadHigh  float64 `json:"-"`
	BadTop   float64 `json:"-"`
}

// Text returns the load in words.
func (l Load) Text() string {
	if l.Attempts == 0 {
		return "no attempts in the last 3 h"
	}
	return fmt.Sprintf("%s %s in the last 3 h, %s failed, %s retried", count(l.Attempts), noun(l.Attempts, "attempt"), count(l.Failed), count(l.Retried))
}

const (
	loadHours = 3 * time.Hour
	loadParts = 36
	loadHigh  = 16.0
)

// load adds up the attempts of a state machine.
func (c *charts) load(machine string, now time.Time) Load {
	var l Load
	points, err := c.of(machine)
	if err != nil || len(points) == 0 {
		return l
	}
	begin := now.Add(-loadHours)
	var parts [loadParts]LoadBar
	for i := range points {
		p := &points[i]
		if p.Start.Before(begin) || len(p.Values) == 0 {
			continue // each attempt is counted in one point only: that of its state and, if it failed, its error
		}
		at := &parts[max(0, min(loadParts-1, int(loadParts*float64(p.Start.Sub(begin))/float64(loadHours))))]
		switch n := int64(math.Round(p.Values[0])); p.Metric {
		case retrymetrics.TaskAttempts:
			l.Attempts += n
			at.Attempts += n
		case retrymetrics.TaskFailures:
			l.Failed += n
			at.Failed += n
		case retrymetrics.RetryAttempts:
			l.Retried += n
		}
	}
	if l.Attempts == 0 {
		return Load{}
	}
	most := int64(1)
	for i := range parts {
		most = max(most, parts[i].Attempts)
	}
	for i := range parts {
		b := &parts[i]
		b.X = float64(i) * 4
		if b.Attempts > 0 {
			b.High = max(1.5, loadHigh*float64(b.Attempts)/float64(most))
		}
		if b.Failed > 0 {
			b.BadHigh = min(loadHigh, max(1.5, loadHigh*float64(b.Failed)/float64(most)))
		}
		b.Top, b.BadTop = loadHigh-b.High, loadHigh-b.BadHigh
	}
	l.Bars = parts[:]
	return l
}
