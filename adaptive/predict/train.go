package predict

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Kind is a kind of model, listed below from the simplest.
type Kind string

// The kinds of models.
const (
	BaseRate       Kind = "base-rate"
	ShrunkRates    Kind = "shrunk-rates"
	LogisticKind   Kind = "logistic"
	ForestKind     Kind = "forest"
	fewestExamples      = 200
)

// Candidate is a model that was tried.
type Candidate struct {
	Kind  Kind  `json:"kind"`
	Score Score `json:"score"`
	// Against is the kind that the candidate was compared with: the simplest that had not been beaten. Difference
	// is the candidate's Brier score minus that of Against. The candidate beats it if High is below 0.
	Against    Kind       `json:"against,omitempty"`
	Difference Difference `json:"difference"`
}

// TooLittleError reports that a history is too short or too uniform for a model.
type TooLittleError struct{ Reason string }

func (e *TooLittleError) Error() string { return "predict: " + e.Reason }

// Train fits all kinds of models and selects the simplest that none beats. It splits the examples by time: the first
// half for fitting, the next fifth for calibrating, and the rest for testing. An execution that crosses a border is
// left out of the later part. The selected kind is then fitted again, to all examples. Train returns a
// *TooLittleError if there are fewer than 200 examples, or if all outcomes in a part are the same.
func Train(all []Example, seed uint64) (*Model, error) {
	if len(all) < fewestExamples {
		return nil, &TooLittleError{fmt.Sprintf("there are %d examples, and %d are needed", len(all), fewestExamples)}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Example) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Execution, b.Execution))
	})
	fit, calibrate, test := split(all)
	for name, part := range map[string][]Example{"fitting": fit, "testing": test} {
		if !mixed(part) {
			return nil, &TooLittleError{fmt.Sprintf(
				"the examples for %s all have the same outcome, or there are none; train on a longer time", name)}
		}
	}
	rates := newRates(fit)
	m := &Model{
		Version: modelVersion, Features: slices.Clone(FeatureNames), N: len(all), Train: len(fit),
		Calibrate: len(calibrate),
		Test:      len(test), From: all[0].At.UTC(), To: all[len(all)-1].At.UTC(), Seed: seed, Rates: rates,
	}
	m.look(fit)
	m.fit(fit, calibrate)
	m.choose(test)
	m.refit(all)
	m.trim()
	return m, m.seal()
}

// split divides examples sorted by time into the three parts.
func split(all []Example) (fit, calibrate, test []Example) {
	first, second := len(all)/2, len(all)*7/10
	seen := map[string]bool{}
	part := func(some []Example) []Example {
		var out []Example
		for _, e := range some {
			if !seen[e.Execution] {
				out = append(out, e)
			}
		}
		for _, e := range some {
			seen[e.Execution] = true
		}
		return out
	}
	return part(all[:first]), part(all[first:second]), part(all[second:])
}

func mixed(all []Example) bool {
	return slices.ContainsFunc(all, func(e Example) bool { return e.Succeeded }) &&
		slices.ContainsFunc(all, func(e Example) bool { return !e.Succeeded })
}

// fit fits the feature-based models to the examples in fit that have all features, and calibrates them on those in
// calibrate, which are later.
func (m *Model) fit(fit, calibrate []Example) {
	xs, ys := m.matrix(fit)
	later, outcomes := m.matrix(calibrate)
	if len(xs) < fewestExamples/4 || len(later) == 0 {
		return // the features are missing
	}
	logistic, forest := fitLogistic(xs, ys), growForest(xs, ys, treeCount, m.Seed)
	var byLogistic, byForest []float64
	for _, x := range later {
		byLogistic = append(byLogistic, logistic.predict(x))
		byForest = append(byForest, forest.predict(x))
	}
	m.Logistic, m.LogisticCalibration = &logistic, new(fitCalibration(byLogistic, outcomes))
	m.Forest, m.ForestCalibration = &forest, new(fitCalibration(byForest, outcomes))
}

// fewestKnown is the number of examples with and without an optional member from which the model uses it, or does
// without it.
const fewestKnown = 20

// look finds the optional members that the examples have and lack.
func (m *Model) look(all []Example) {
	for _, member := range optional {
		known := 0
		for i := range all {
			if _, ok := all[i].known(member); ok {
				known++
			}
		}
		if known >= fewestKnown {
			m.Given = append(m.Given, member)
		}
		if len(all)-known >= fewestKnown {
			m.Lacked = append(m.Lacked, member)
		}
	}
}

func (m *Model) matrix(all []Example) (xs [][]float64, ys []float64) {
	for i := range all {
		if x, ok := all[i].features(&m.Rates, m.Given); ok {
			xs = append(xs, x)
			ys = append(ys, outcome(&all[i]))
		}
	}
	return xs, ys
}

// longestSpell is the time within which outcomes are taken to depend on one another, because they share an outage. A
// short test part is divided into at least fewestSpells.
const (
	longestSpell = 5 * time.Minute
	fewestSpells = 20
)

// choose compares the kinds of models on the test part. It starts with the simplest, and compares each further kind
// with the best so far.
func (m *Model) choose(test []Example) {
	ys, clusters := make([]float64, len(test)), make([]string, len(test))
	spell := min(longestSpell, max(test[len(test)-1].At.Sub(test[0].At)/fewestSpells, time.Second))
	for i := range test {
		ys[i], clusters[i] = outcome(&test[i]), test[i].At.Truncate(spell).String()
	}
	var best []float64
	for _, kind := range []Kind{BaseRate, ShrunkRates, LogisticKind, ForestKind} {
		if kind == LogisticKind && m.Logistic == nil || kind == ForestKind && m.Forest == nil {
			continue
		}
		ps := make([]float64, len(test))
		for i := range test {
			ps[i], _ = m.by(kind, &test[i])
		}
		c := Candidate{Kind: kind, Score: score(ps, ys)}
		if best != nil {
			c.Against = m.Kind
			c.Difference = difference(ps, best, ys, clusters, m.Seed)
		}
		m.Candidates = append(m.Candidates, c)
		if best == nil || c.Difference.High < 0 {
			m.Kind, m.Brier, best = kind, c.Score.Brier, ps
		}
	}
}

// folds is the number of parts of the time for which the selected kind is fitted to the others, for its calibration.
const folds = 5

// refit fits the selected kind to all examples, because the newest ones tell most about the future. The calibration
// comes from predictions for each fifth of the time by a fit to the other four.
func (m *Model) refit(all []Example) {
	m.Rates = newRates(all)
	if m.Kind != LogisticKind && m.Kind != ForestKind {
		return
	}
	xs, ys := m.matrix(all)
	fit := func(xs [][]float64, ys []float64, trees int) func([]float64) float64 {
		if m.Kind == LogisticKind {
			m.Logistic = new(fitLogistic(xs, ys))
			return m.Logistic.predict
		}
		m.Forest = new(growForest(xs, ys, trees, m.Seed))
		return m.Forest.predict
	}
	var ps []float64
	for k := range folds {
		from, to := len(xs)*k/folds, len(xs)*(k+1)/folds
		predict := fit(slices.Concat(xs[:from], xs[to:]), slices.Concat(ys[:from], ys[to:]), treeCount/folds)
		for _, x := range xs[from:to] {
			ps = append(ps, predict(x))
		}
	}
	fit(xs, ys, treeCount)
	m.LogisticCalibration, m.ForestCalibration = new(fitCalibration(ps, ys)), new(fitCalibration(ps, ys))
}

// trim removes the models that were not selected.
func (m *Model) trim() {
	if m.Kind != LogisticKind {
		m.Logistic, m.LogisticCalibration = nil, nil
	}
	if m.Kind != ForestKind {
		m.Forest, m.ForestCalibration = nil, nil
	}
}
