package predict_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/predict"
)

// truth describes histories of which the true chance of every retry is known.
type truth struct {
	hours int
	rate  float64 // records per second
	// Outages begin at random, apart seconds after the last one on average, and last for lasts() seconds.
	// left returns the chance that an outage of some age ends within some time.
	apart float64
	lasts func(*rand.Rand) float64
	left  func(age, within float64) float64
	// chance is the probability of an error that has nothing to do with outages, poison that of a record that always
	// fails.
	chance, poison float64
}

// waits are the waits before retries; a history has no jitter, so they are known.
var waits = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second}

// histories returns the examples that package analysis takes from the histories, and for each the chance of an oracle
// that knows whether the callee is down, for how long, all probabilities, and the errors that the record has had, but
// neither the future nor which records are poison.
func (w truth) histories(seed uint64) (examples []predict.Example, oracle []float64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	end := float64(w.hours) * 3600
	var outages [][2]float64
	if w.apart > 0 {
		for at := rnd.ExpFloat64() * w.apart; at < end; at += rnd.ExpFloat64() * w.apart {
			last := at + w.lasts(rnd)
			outages = append(outages, [2]float64{at, last})
			at = last
		}
	}
	down := func(at float64) (age float64, is bool) {
		i, _ := slices.BinarySearchFunc(outages, at, func(o [2]float64, at float64) int {
			return cmp.Compare(o[1],
				at)
		})
		if i < len(outages) && outages[i][0] <= at {
			return at - outages[i][0], true
		}
		return 0, false
	}
	type key struct {
		execution string
		attempt   int
	}
	chances := map[key]float64{}
	var c analysis.Collector
	for n, at := 0, 0.0; at < end; n++ {
		at += rnd.ExpFloat64() / w.rate
		task := analysis.Task{Execution: strconv.Itoa(n), State: "Save", Callee: "db", Ending: analysis.GivenUp}
		poison := rnd.Float64() < w.poison
		start, strange := at, 0.0
		for k := 0; ; k++ {
			_, is := down(start)
			name := ""
			switch {
			case is:
				name = "ServiceUnavailableError"
			case poison:
				name = "ProcessingError"
			case rnd.Float64() < w.chance:
				name = "ProcessingError"
			}
			stop := start + 0.2
			time := func(s float64) time.Time { return begin.Add(time.Duration(s * float64(time.Second))) }
			task.Attempts = append(task.Attempts, analysis.Attempt{Start: time(start), End: time(stop), Error: name,
				Bytes: 100})
			if name == "" || k == len(waits) {
				break
			}
			p := 1 - w.chance
			wait := waits[k].Seconds()
			if age, is := down(stop); is {
				p *= w.left(age, wait)
			} else if w.apart > 0 {
				p *= math.Exp(-wait / w.apart)
			}
			if name == "ProcessingError" {
				strange++
			}
			p *= 1 - w.poison/(w.poison+(1-w.poison)*math.Pow(w.chance, strange)) // Bayes' theorem
			chances[key{task.Execution, k + 1}] = p
			start = stop + wait
		}
		if task.Attempts[len(task.Attempts)-1].Error == "" {
			task.Ending = analysis.Done
		}
		c.Add(task)
	}
	examples = c.Examples()
	slices.SortStableFunc(examples, func(a, b predict.Example) int { return a.At.Compare(b.At) })
	for _, e := range examples {
		oracle = append(oracle, chances[key{e.Execution, e.Attempt}])
	}
	return examples, oracle
}

// On histories with known truth the model's score on later time is within 5 % of the score of an oracle, and it uses
// the base rate if nothing predicts.
func TestTheModelComesCloseToAnOracle(t *testing.T) {
	t.Parallel()
	exponential := func(mean float64) truth {
		return truth{
			lasts: func(r *rand.Rand) float64 { return mean * r.ExpFloat64() },
			left:  func(_, within float64) float64 { return 1 - math.Exp(-within/mean) },
		}
	}
	short, pareto, poison := exponential(20), truth{
		// A Pareto distribution from 10 s with exponent 1.2: the older an outage, the longer it will last, up to 10
		// min.
		lasts: func(r *rand.Rand) float64 { return min(10*math.Pow(1-r.Float64(), -1/1.2), 600) },
		left: func(age, within float64) float64 {
			if age+within >= 600 {
				return 1
			}
			return 1 - math.Pow(max(age, 10)/max(age+within, 10), 1.2)
		},
	}, exponential(20)
	short.hours, short.rate, short.apart, short.chance = 72, 0.3, 900, 0.05
	pareto.hours, pareto.rate, pareto.apart, pareto.chance = 96, 0.4, 1800, 0.05
	poison.hours, poison.rate, poison.apart, poison.chance, poison.poison = 24, 0.3, 3600, 0.1, 0.02
	nothing := truth{hours: 24, rate: 0.2, chance: 0.2}
	for name, c := range map[string]struct {
		truth
		base bool
	}{
		"outages that forget their age": {short, false},
		"outages with a long tail":      {pareto, false},
		"poison and chance errors":      {poison, false},
		"chance alone":                  {nothing, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history, _ := c.histories(1)
			m, err := predict.Train(history, 1)
			if err != nil {
				t.Fatal(err)
			}
			later, chances := c.histories(2)
			var ours, oracles, bases float64
			for i, e := range later {
				y := 0.0
				if e.Succeeded {
					y = 1
				}
				p, complete := m.Predict(e)
				if !complete && e.FailureRate != nil {
					t.Fatalf("the model lacks a feature of %+v", e)
				}
				n := float64(len(later))
				ours += (p - y) * (p - y) / n
				oracles += (chances[i] - y) * (chances[i] - y) / n
				bases += (m.Rates.Base - y) * (m.Rates.Base - y) / n
			}
			t.Logf("%s: Brier %.4f, oracle %.4f (%+.1f %%), base rate %.4f, %d retries", m.Kind, ours, oracles,
				100*(ours/oracles-1), bases, len(later))
			if ours > 1.05*oracles {
				t.Errorf("%s has a Brier score of %.4f, want at most 1.05 times that of the oracle, %.4f", m.Kind, ours, oracles)
			}
			if m.BeatsBaseRate() == c.base {
				t.Errorf("the model is %s: %+v", m.Kind, m.Candidates)
			}
		})
	}
}
