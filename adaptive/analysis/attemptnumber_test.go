package analysis_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/retrypatterns"
)

// stubborn returns 3,000 tasks of which every third succeeds at an attempt with probability 0.1, and the others with
// 0.95, whatever the time. A task is retried until it has made the given number of attempts.
func stubborn(seed uint64, wait time.Duration, attempts int) []analysis.Task {
	rnd := rand.New(rand.NewPCG(seed, 1))
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	tasks := make([]analysis.Task, 3000)
	for i := range tasks {
		p := 0.95
		if i%3 == 0 {
			p = 0.1
		}
		x := analysis.Task{State: "Save", Callee: "db", Rules: "a", Ending: analysis.GivenUp}
		at := began.Add(time.Duration(i) * 200 * time.Millisecond)
		for range attempts {
			a := analysis.Attempt{Start: at, End: at.Add(100 * time.Millisecond)}
			if rnd.Float64() >= p {
				a.Error = "Busy"
			}
			x.Attempts = append(x.Attempts, a)
			if a.Error == "" {
				x.Ending = analysis.Done
				break
			}
			at = a.End.Add(wait)
		}
		tasks[i] = x
	}
	return tasks
}

func every(seconds, retries int) []retrypatterns.Retrier {
	return []retrypatterns.Retrier{{ErrorEquals: []string{"Busy"}, IntervalSeconds: seconds, MaxAttempts: retries,
		BackoffRate: 1}}
}

// Later attempts fare worse than the others of their time, because they are those of stubborn tasks. A what-if that
// waits longer must not take them for ordinary ones.
func TestBracketsKnowTheAttempt(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		c := collect(stubborn(seed, 2*time.Second, 4), every(2, 3))
		got := whatIf(t, c, every(5, 3)).States[0]
		truth := float64(succeeded(stubborn(seed+100, 5*time.Second, 4)))
		if got.Low.Succeeded > truth || truth > got.High.Succeeded || got.High.Succeeded-got.Low.Succeeded > 0.1*3000 {
			t.Errorf("seed %d: %.0f to %.0f succeed, and it is %.0f", seed, got.Low.Succeeded, got.High.Succeeded, truth)
		}
		if got.Beyond != 0 {
			t.Errorf("seed %d: a share of %v of the attempts is beyond the record", seed, got.Beyond)
		}
	}
}

// What no task on record did is not extrapolated in silence: the lower bound assumes that such attempts fail.
func TestBracketsSayWhatIsBeyondTheRecord(t *testing.T) {
	t.Parallel()
	recorded := stubborn(1, 2*time.Second, 3)
	w := whatIf(t, collect(recorded, every(2, 2)), every(2, 6))
	got, done := w.States[0], float64(succeeded(recorded))
	truth := float64(succeeded(stubborn(1, 2*time.Second, 7)))
	if got.Low.Succeeded != done || got.High.Succeeded < truth || got.Beyond != 1 {
		t.Errorf("%.0f to %.0f succeed with %v beyond the record; %.0f did, and it is %.0f", got.Low.Succeeded,
			got.High.Succeeded, got.Beyond, done, truth)
	}
	if reason := strings.Join(w.Reasons, " "); !strings.Contains(reason,
		"100.0 % of their attempts are later retries of an error than any on record") {
		t.Errorf("the reasons do not say so: %s", reason)
	}
}
