package configuration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/configuration"
	"stepback/adaptive/predict"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func saves() *configuration.Configuration {
	return &configuration.Configuration{
		Version: configuration.Version, Machine: "import", At: noon, Until: noon.Add(time.Hour), Value: 0.001,
		States: map[string]configuration.State{"Save": {
			"Deadlock":   {{Started: 400, Succeeded: 300, Cost: 3e-5}, {Started: 1000, Succeeded: 1, Cost: 3e-5}},
			"States.ALL": {{Started: 19, Succeeded: 0, Cost: 1}, {Started: 20, Succeeded: 0, Cost: 1}},
		}},
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state, name   string
		retries       int
		retry, knows  bool
		reasonBeginns string
	}{
		{"Save", "Deadlock", 0, true, true, "retry: 0.79 × $0.001"},
		// At most 0.56 % of them recover, which is worth less than a transition and an invocation.
		{"Save", "Deadlock", 1, false, true, "give up: 0.00564 × $0.001"},
		{"Save", "Deadlock", 2, true, false, ""},
		{"Save", "Deadlock", -1, true, false, ""},
		{"Save", "Another", 0, true, false, ""}, // 19 retries are too few
		{"Save", "Another", 1, false, true, "give up"},
		{"Load", "Deadlock", 1, true, false, ""},
	} {
		d, knows := saves().Decide(configuration.Attempt{State: c.state, Error: c.name, Retries: c.retries})
		if d.Retry != c.retry || knows != c.knows || !strings.HasPrefix(d.Reason, c.reasonBeginns) {
			t.Errorf("%s in %s after %d retries: %v (%v), %q", c.name, c.state, c.retries, d.Retry, knows, d.Reason)
		}
	}
}

func TestDecodeRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	const rest = `"machine":"m","value":1,"states":{"S":{"E":[`
	for text, want := range map[string]string{
		`{`:                        "cannot be read",
		`{"version":2}`:            "it has version 2; this program reads version 1",
		`{"version":1}`:            "it names no state machine",
		`{"version":1,"value":-1}`: "the value of a success is -1",
		`{"version":1,` + rest + `{"started":1,"succeeded":2}]}}}`:                       "retry 1 after E in state S",
		`{"version":1,` + rest + `{"started":-1}]}}}`:                                    "retry 1 after E in state S",
		`{"version":1,` + rest + `{"started":2,"succeeded":1,"cost":-3}]}}}`:             "retry 1 after E in state S",
		`{"version":1,` + rest + `{"started":"many"}]}}}`:                                "cannot be read",
		`{"version":1,"machine":"m","value":1,"model":{"version":9,"kind":"base-rate"}}`: "version 9",
	} {
		if c, err := configuration.Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			c != nil {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// source counts how often it is loaded.
type source struct {
	reads int
	err   error
	is    *configuration.Configuration
}

func (s *source) Load(context.Context, string) (*configuration.Configuration, error) {
	s.reads++
	return s.is, s.err
}

func TestReader(t *testing.T) {
	t.Parallel()
	now, s := noon, &source{is: saves()}
	var told []string
	r := configuration.Reader{Source: s, Machine: "import", Now: func() time.Time { return now },
		Unavailable: func(err error) { told = append(told, err.Error()) }}
	failed := configuration.Attempt{State: "Save", Error: "Deadlock", Retries: 1}
	decide := func(wantRetry bool, wantReads int) {
		t.Helper()
		if d, _ := r.Decide(t.Context(), failed); d.Retry != wantRetry || s.reads != wantReads {
			t.Errorf("at %s: retry is %v after %d reads, want %v after %d", now.Format(time.TimeOnly), d.Retry, s.reads,
				wantRetry, wantReads)
		}
	}
	decide(false, 1)
	now = now.Add(59 * time.Second)
	decide(false, 1) // a loaded configuration is used for a minute
	now = now.Add(time.Second)
	s.err = errors.New("no network")
	decide(false, 2) // the last one loaded is used until it expires
	now = noon.Add(time.Hour)
	decide(true, 3) // it has expired: nothing is given up
	s.err, s.is = nil, nil
	now = now.Add(time.Minute)
	decide(true, 4)
	if strings.Join(told, ",") != "no network,no network" {
		t.Errorf("told %q", told)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	f := configuration.Files{Directory: t.TempDir()}
	if c, err := f.Load(t.Context(), "import"); c != nil || err != nil {
		t.Errorf("of nothing: %v, %v", c, err)
	}
	if err := f.Save(t.Context(), saves()); err != nil {
		t.Fatal(err)
	}
	c, err := f.Load(t.Context(), "import")
	if err != nil || c.Value != 0.001 || len(c.States["Save"]["Deadlock"]) != 2 || !c.Until.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v, %v", c, err)
	}
	files, err := filepath.Glob(filepath.Join(f.Directory, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	sealed, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := range sealed { // no changed byte is silent
		changed := bytes.Clone(sealed)
		changed[at] ^= 1 << (at % 8)
		if err := os.WriteFile(files[0], changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := f.Load(t.Context(), "import"); c != nil || err == nil {
			t.Errorf("byte %d changed: %v, %v", at, c, err)
		}
	}
	problems := 0
	if err := f.Check(func(error) { problems++ }); err != nil || problems != 1 {
		t.Errorf("%d problems, %v", problems, err)
	}
	// A file of an earlier version has no seal.
	earlier, err := json.MarshalIndent(saves(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], earlier, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := f.Load(t.Context(), "import"); err != nil || c.Value != 0.001 {
		t.Errorf("of an earlier version: %+v, %v", c, err)
	}
}

// model returns a model of errors of which Deadlock recovers with a chance of 0.9, or, if it is of no use, of errors
// that all recover with the same chance.
func model(t *testing.T, useful bool) *predict.Model {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 7))
	all := make([]predict.Example, 2000)
	for i := range all {
		all[i] = predict.Example{At: noon.Add(time.Duration(i) * time.Minute), Execution: strconv.Itoa(i),
			Error: []string{"Deadlock", "States.Timeout"}[i%2], Attempt: 2, SinceFirst: 1}
		all[i].Succeeded = rnd.Float64() < 0.1 || useful && i%2 == 0 && rnd.Float64() < 0.9
	}
	m, err := predict.Train(all, 42)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// modelOf provides a model.
type modelOf struct{ *predict.Model }

func (m modelOf) Current(context.Context) *predict.Model { return m.Model }

// TestAModelDecidesOnlyIfItBeatsTheBaseRate: by the measurements, the second retry after a deadlock never pays. A model
// that knows better makes it, whether it comes with the configuration or apart from it; a mere base rate does not.
func TestAModelDecidesOnlyIfItBeatsTheBaseRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		useful, retry bool
		ending        string
	}{
		{true, true, "(chance estimated by the model shrunk-rates of 2026-11-23)"},
		{false, false, "that an attempt costs"},
	} {
		m := model(t, c.useful)
		if m.BeatsBaseRate() != c.useful {
			t.Fatal(m.Kind)
		}
		failed := configuration.Attempt{State: "Save", Error: "Deadlock", Retries: 1, Began: noon, Failed: noon.Add(time.Second)}
		with := saves()
		with.Model = m
		d, known := with.Decide(failed)
		if !known || d.Retry != c.retry || !strings.HasSuffix(d.Reason, c.ending) {
			t.Errorf("%s: %v (%v), %q", m.Kind, d.Retry, known, d.Reason)
		}
		r := configuration.Reader{Source: &source{is: saves()}, Models: modelOf{m},
			Now: func() time.Time { return noon }}
		if apart, _ := r.Decide(t.Context(), failed); apart.Reason != d.Reason {
			t.Errorf("%s apart from the configuration: %q, want %q", m.Kind, apart.Reason, d.Reason)
		}
	}
}
