package controller_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/configuration"
	"stepback/adaptive/controller"
)

// past provides histories of tasks in the state Save, each in a separate spell: half of the first retries recover,
// and none of the later ones.
type past struct {
	end  time.Time
	err  error
	asks int
}

func (p *past) Collect(_ context.Context, _ string, since time.Time, c *analysis.Collector) error {
	p.asks++
	if p.err != nil {
		return p.err
	}
	for i := range 600 {
		at := p.end.Add(-time.Duration(i+1) * 15 * time.Minute)
		if at.Before(since) {
			break
		}
		task := analysis.Task{Execution: strconv.Itoa(i), State: "Save", Callee: "save"}
		attempts := 5
		if i%2 == 0 {
			attempts = 2
		}
		for k := range attempts {
			a := analysis.Attempt{Start: at, End: at.Add(100 * time.Millisecond),
				Error: "DatabaseConnectionError"}
			if attempts == 2 && k == 1 {
				a.Error = ""
			}
			task.Attempts = append(task.Attempts, a)
			at = at.Add(5 * time.Second)
		}
		task.Ending = analysis.GivenUp
		if attempts == 2 {
			task.Ending = analysis.Done
		}
		c.Add(task)
	}
	return nil
}

func TestRetriesThatDoNotPay(t *testing.T) {
	t.Parallel()
	w, tell := newWorld(t, &controller.MemoryRows{}), &configuration.Memory{}
	histories := &past{end: noon}
	prices := analysis.DefaultOptions()
	w.Economy = &controller.Economy{Histories: histories, Prices: prices, Tell: tell}
	w.measured(10, 0)
	res := w.tick(t)
	if len(res.Warnings) != 0 || !res.Decisions[0].Changes() {
		t.Fatalf("%+v", res)
	}
	if _, attempts := w.deployed(t); attempts[1] != 1 {
		t.Errorf("MaxAttempts are %v, want one retry after DatabaseConnectionError, which recovers half of the tasks",
			attempts)
	}
	c, err := tell.Load(t.Context(), "saves")
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	for retries, want := range []bool{true, false} {
		d, known := c.Decide(configuration.Attempt{State: "Save", Error: "DatabaseConnectionError", Retries: retries})
		if !known || d.Retry != want {
			t.Errorf("after %d retries the functions are told: retry %v (known %v): %s", retries, d.Retry, known, d.Reason)
		}
	}
	if d, known := c.Decide(configuration.Attempt{State: "Save", Error: "States.Timeout"}); known || !d.Retry {
		t.Errorf("of an error that never came, something is known: %+v", d)
	}
	// It is not measured again within the hour.
	w.now = w.now.Add(10 * time.Minute)
	w.measured(10, 0)
	w.tick(t)
	if histories.asks != 1 {
		t.Errorf("histories were read %d times within ten minutes", histories.asks)
	}
	row, err := w.Rows.Load(t.Context(), w.Machine)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range row.History {
		if e.What == controller.Told {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d entries of what the functions were told, want 1", told)
	}
}

func TestHistoriesThatCannotBeReadStopNothing(t *testing.T) {
	t.Parallel()
	w, tell := newWorld(t, &controller.MemoryRows{}), &configuration.Memory{}
	w.Economy = &controller.Economy{Histories: &past{err: errors.New("AccessDeniedException")},
		Prices: analysis.DefaultOptions(), Tell: tell}
	w.measured(10, 0.9)
	res := w.tick(t)
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "AccessDeniedException") ||
		!res.Decisions[0].Changes() {
		t.Errorf("%+v", res)
	}
	if c, _ := tell.Load(t.Context(), "saves"); c != nil {
		t.Errorf("the functions are told %+v", c)
	}
}

func TestADryRunTellsNobody(t *testing.T) {
	t.Parallel()
	w, tell := newWorld(t, &controller.MemoryRows{}), &configuration.Memory{}
	w.Economy = &controller.Economy{Histories: &past{end: noon}, Prices: analysis.DefaultOptions(), Tell: tell}
	w.DryRun = true
	w.measured(10, 0)
	w.tick(t)
	if c, _ := tell.Load(t.Context(), "saves"); c != nil {
		t.Errorf("the functions are told %+v", c)
	}
}
