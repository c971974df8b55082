package predict_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/predict"
)

// world returns examples whose chance of success is p of their failure rate and error.
func world(n int, seed uint64, p func(rate float64, name string) float64) []predict.Example {
	rnd := rand.New(rand.NewPCG(seed, 7))
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	all := make([]predict.Example, n)
	for i := range all {
		rate, load, bytes := rnd.Float64(), rnd.Float64(), 100*rnd.Float64()
		name := []string{"States.Timeout", "DatabaseConnectionError"}[rnd.IntN(2)]
		all[i] = predict.Example{
			At: begin.Add(time.Duration(i) * time.Minute), Execution: strconv.Itoa(i / 3), Error: name,
			Attempt:    1 + rnd.IntN(4),
			SinceFirst: 10 * rnd.Float64(), FailureRate: &rate, Load: &load, Bytes: &bytes,
			Succeeded: rnd.Float64() < p(rate, name),
		}
	}
	return all
}

func train(t *testing.T, all []predict.Example) *predict.Model {
	t.Helper()
	m, err := predict.Train(all, 1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheSimplestModelThatIsNotBeatenIsShipped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p    func(rate float64, name string) float64
		want predict.Kind
	}{
		"nothing says anything": {func(float64, string) float64 { return 0.4 }, predict.BaseRate},
		"the error says it all": {func(_ float64, name string) float64 {
			if name == "States.Timeout" {
				return 0.1
			}
			return 0.8
		}, predict.ShrunkRates},
		"the failure rate says much": {func(rate float64,
			_ string) float64 {
			return 1 / (1 + math.Exp(10*(rate-0.5)))
		}, predict.LogisticKind},
		"what no line can say": {func(rate float64, _ string) float64 {
			if rate > 0.33 && rate < 0.66 {
				return 0.95
			}
			return 0.05
		}, predict.ForestKind},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := train(t, world(2000, 1, c.p))
			if m.Kind != c.want {
				t.Errorf("shipped %s, want %s: %+v", m.Kind, c.want, m.Candidates)
			}
			for _, candidate := range m.Candidates {
				if candidate.Kind == m.Kind && candidate.Score.ECE > 0.1 {
					t.Errorf("%s is off by %.3f on average", candidate.Kind, candidate.Score.ECE)
				}
			}
		})
	}
}

func TestProbabilitiesOfTheShippedModel(t *testing.T) {
	t.Parallel()
	m := train(t, world(2000, 2, func(rate float64, _ string) float64 { return 1 / (1 + math.Exp(10*(rate-0.5))) }))
	for _, c := range []struct{ rate, low, high float64 }{{0.1, 0.9, 1}, {0.5, 0.35, 0.65}, {0.9, 0, 0.1}} {
		load, bytes := 0.5, 50.0
		p, ok := m.Predict(predict.Example{At: time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC), Error: "States.Timeout",
			Attempt:     1,
			FailureRate: &c.rate, Load: &load, Bytes: &bytes})
		if !ok || p < c.low || p > c.high || p <= 0 || p >= 1 {
			t.Errorf("at a failure rate of %v: %v (%v), want between %v and %v", c.rate, p, ok, c.low, c.high)
		}
	}
	if p, ok := m.Predict(predict.Example{Error: "States.Timeout", Attempt: 1}); ok || p != m.Rates.Base {
		t.Errorf("without features: %v (%v), want the base rate %v and false", p, ok, m.Rates.Base)
	}
}

func TestTheSameDataGiveTheSameFile(t *testing.T) {
	t.Parallel()
	all := world(1000, 3, func(rate float64, _ string) float64 { return rate })
	text, err := json.Marshal(train(t, all))
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(train(t, all))
	if err != nil || string(text) != string(again) {
		t.Error("trained twice, and two files")
	}
	m, err := predict.Read(text)
	if err != nil || m.N != 1000 || m.From.Day() != 1 || m.Brier <= 0 || m.Hash == "" {
		t.Errorf("%+v, %v", m, err)
	}
	for want, bad := range map[string]string{
		"has version 3":     strings.Replace(string(text), `"version":2`, `"version":3`, 1),
		"has the features":  strings.Replace(string(text), `"sinceFirst"`, `"since"`, 1),
		"changed or is dam": strings.Replace(string(text), `"n":1000`, `"n":9000`, 1),
		"model file:":       "{",
	} {
		if _, err := predict.Read([]byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

func TestTooLittleDataIsSaid(t *testing.T) {
	t.Parallel()
	for want, all := range map[string][]predict.Example{
		"there are 10 examples, and 200 are needed": world(10, 1, func(float64, string) float64 { return 0.5 }),
		"all have the same outcome":                 world(300, 1, func(float64, string) float64 { return 1 }),
	} {
		if _, err := predict.Train(all, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}
