package alarms_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"stepback/alarms"
	"stepback/csvimport/pipeline"
	"stepback/csvimport/sample"
	"stepback/dashboards"
	"stepback/dashboards/render"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
	"stepback/statemachine"
	"stepback/tasks/faults"
)

// importSample runs an import of generated rows and returns the resulting metric data.
func importSample(t *testing.T, specs ...string) []retrymetrics.Point {
	t.Helper()
	dir := t.TempDir()
	cfg := pipeline.Config{Dir: dir, Seed: 1, VirtualTime: true}
	for _, text := range specs {
		spec, err := faults.ParseSpec(text, statemachine.TaskStates()...)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Faults = append(cfg.Faults, spec)
	}
	file := filepath.Join(dir, "activity.csv")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := sample.Write(f, sample.Options{Rows: 300, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Import(t.Context(), file, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	points, err := metricsfile.Read(dir)
	if err != nil || len(points) == 0 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	// Periods begin at multiples of their length, so align the run's start with one, whenever the test runs.
	late := points[0].Start.Sub(points[0].Start.Truncate(time.Hour))
	for i := range points {
		points[i].Start = points[i].Start.Add(-late)
	}
	return points
}

// local returns the alarms of a laptop, where AWS's own metrics are not available.
func local(t *testing.T, level retrymetrics.Level) alarms.Set {
	t.Helper()
	s, err := alarms.New(alarms.Options{StateMachine: machine, Level: level})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheAlarmsThatShouldTripAfterARunDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults []string
		want   []string
		pages  bool
	}{
		"no fault":        {nil, nil, false},
		"some throttling": {[]string{"ProcessSingleUserRecord:throttle:2%"}, nil, false},
		"database goes down": {[]string{"ProcessSingleUserRecord:DatabaseConnectionError:100%"},
			[]string{"dead-letters", "excessive-retries", "many-dead-letters"}, true},
		"breaker open": {[]string{"ProcessSingleUserRecord:CircuitOpen:50%"},
			[]string{"circuit-breaker-open", "excessive-retries", "slow-retries"}, true},
		"not worth another attempt": {[]string{"ProcessSingleUserRecord:RetryNotWorthwhile:100%"},
			[]string{"dead-letters", "many-dead-letters"}, true},
		"validation is down": {[]string{"ValidateCSVFile:TimeoutError:100%"}, []string{"executions-failed"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := importSample(t, c.faults...)
			got, pages, err := local(t, retrymetrics.LevelAll).Tripped(points)
			if err != nil || !slices.Equal(got, c.want) || pages != c.pages {
				t.Errorf("%v trip (pages: %v, %v), want %v", got, pages, err, c.want)
			}
		})
	}
}

// worst is a run that triggers everything that the dashboard shows.
var worst = []string{
	"ProcessSingleUserRecord:DatabaseConnectionError:20%", "ProcessSingleUserRecord:throttle:5%",
	"ProcessSingleUserRecord:hang:2%", "ProcessSingleUserRecord:CircuitOpen:5%",
	"ProcessSingleUserRecord:RetryNotWorthwhile:10%",
}

func TestARunWithFaultsGivesEveryWidgetDataAndTripsItsAlarms(t *testing.T) {
	t.Parallel()
	for level, want := range map[retrymetrics.Level][]string{
		retrymetrics.LevelAll:   {"dead-letters", "excessive-retries", "many-dead-letters"},
		retrymetrics.LevelError: {"dead-letters", "excessive-failures", "many-dead-letters"},
	} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			points := slices.DeleteFunc(importSample(t, worst...),
				func(p retrymetrics.Point) bool { return !p.Metric.At(level) })
			d, err := dashboards.Monitor(dashboards.Options{StateMachine: machine, Region: "us-east-1", Level: level})
			if err != nil {
				t.Fatal(err)
			}
			body, err := d.Body()
			if err != nil {
				t.Fatal(err)
			}
			data := render.Points(points)
			page, err := render.Load(t.Context(), d.Name, body, data, data.Window())
			if empty := page.Empty(); err != nil || len(empty) != 0 {
				t.Errorf("no data in %q (%v)", empty, err)
			}
			got, pages, err := local(t, level).Tripped(points)
			if err != nil || !slices.Equal(got, want) || !pages {
				t.Errorf("%v trip (pages: %v, %v), want %v", got, pages, err, want)
			}
		})
	}
}

func TestAtLevelErrorTheSameRunStillPages(t *testing.T) {
	t.Parallel()
	points := slices.DeleteFunc(importSample(t, "ProcessSingleUserRecord:DatabaseConnectionError:100%"),
		func(p retrymetrics.Point) bool {
			return !p.Metric.At(retrymetrics.LevelError)
		})
	s, err := alarms.New(alarms.Options{StateMachine: machine, Level: retrymetrics.LevelError})
	if err != nil {
		t.Fatal(err)
	}
	got, pages, err := s.Tripped(points)
	if want := []string{"dead-letters", "excessive-failures", "many-dead-letters"}; err != nil || !pages ||
		!slices.Equal(got, want) {
		t.Errorf("%v trip (pages: %v, %v), want %v", got, pages, err, want)
	}
}
