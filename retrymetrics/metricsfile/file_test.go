package metricsfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

func point(minute int64, v float64) retrymetrics.Point {
	return retrymetrics.Point{
		Metric: retrymetrics.Throttles, Labels: retrymetrics.Labels{StateMachine: "m", State: "S"},
		Start: time.Unix(60*minute, 0).UTC(), Values: []float64{v}, Counts: []int64{1},
	}
}

func TestPointsAreKeptAndAddedUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got, err := metricsfile.Read(dir); err != nil || got != nil {
		t.Fatalf("%v %v", got, err)
	}
	for _, ps := range [][]retrymetrics.Point{{point(1, 2)}, nil, {point(1, 3), point(2, 4)}} {
		if err := metricsfile.Add(dir, ps, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := metricsfile.Read(dir)
	if err != nil || len(got) != 2 || got[0].Values[0] != 5 || got[1].Values[0] != 4 {
		t.Errorf("%+v %v", got, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

func TestTheOldestPointsGoFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	many := make([]retrymetrics.Point, metricsfile.MaxLines+1)
	for i := range many {
		many[i] = point(int64(i), 1)
	}
	if err := metricsfile.Add(dir, many, time.Time{}); err != nil {
		t.Fatal(err)
	}
	got, err := metricsfile.Read(dir)
	if err != nil || len(got) != metricsfile.MaxLines || !got[0].Start.Equal(time.Unix(60, 0)) {
		t.Errorf("%d %v", len(got), err)
	}
}

func TestADamagedLineIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, metricsfile.Name), []byte(`{"metric":"NoSuch"}`+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := metricsfile.Read(dir); err == nil || !strings.Contains(err.Error(),
		`line 1: metric "NoSuch" is not in the catalogue`) {
		t.Error(err)
	}
}

func TestOldPointsAreCoarsened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(d time.Duration) retrymetrics.Point {
		p := point(0, 1)
		p.Start = p.Start.Add(d)
		return p
	}
	if err := metricsfile.Add(dir, []retrymetrics.Point{at(time.Second), at(2 * time.Second), at(4 * time.Hour),
		at(4*time.Hour + time.Second)}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	got, err := metricsfile.Read(dir)
	if err != nil || len(got) != 3 || got[0].Values[0] != 2 || !got[0].Start.Equal(time.Unix(0, 0)) {
		t.Errorf("%+v %v", got, err)
	}
}

// A recount removes what histories can give again, from the time on, and nothing else.
func TestARecountKeepsWhatHistoriesCannotGive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(m *retrymetrics.Metric, minute int64) retrymetrics.Point {
		p := point(minute, 1)
		p.Metric = m
		return p
	}
	all := []retrymetrics.Point{at(retrymetrics.TaskAttempts, 0), at(retrymetrics.TaskAttempts, 1),
		at(retrymetrics.CircuitBreakerState, 1), at(retrymetrics.RowsApplied, 2), at(retrymetrics.ExecutionsFailed, 2)}
	if err := metricsfile.Add(dir, all, time.Unix(120, 0)); err != nil {
		t.Fatal(err)
	}
	got, counted, err := metricsfile.ReadCounted(dir)
	if len(got) != 5 || !counted.Equal(time.Unix(120, 0)) || err != nil {
		t.Fatalf("%d points, complete before %v: %v", len(got), counted, err)
	}
	from := time.Unix(60, 0)
	if err := metricsfile.Write(dir, metricsfile.BeforeRecount(got, from), from); err != nil {
		t.Fatal(err)
	}
	got, counted, err = metricsfile.ReadCounted(dir)
	var left []string
	for _, p := range got {
		left = append(left, p.Metric.Name())
	}
	if strings.Join(left, " ") != "TaskAttempts CircuitBreakerState RowsApplied" || !counted.Equal(time.Unix(60, 0)) || err != nil {
		t.Errorf("%v, complete before %v: %v", left, counted, err)
	}
}
