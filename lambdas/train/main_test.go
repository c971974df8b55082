package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/adaptive/analysis"
	"stepback/adaptive/predict"
	"stepback/adaptive/predict/s3model"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// past is a week of tasks, one every five minutes. Each fails once, with one of two errors.
type past struct {
	tasks int
	// recovers reports whether the retry of a task succeeds.
	recovers func(i int, deadlock bool) bool
	err      error
}

func (p past) Collect(_ context.Context, machine string, since time.Time, c *analysis.Collector) error {
	if machine != "arn:aws:states:us-east-1:123456789012:stateMachine:csv-import" || !since.Equal(noon.AddDate(0, 0, -7)) {
		return errors.New("wrong selection: " + machine + " " + since.String())
	}
	for i := range p.tasks {
		at := since.Add(time.Duration(i) * 5 * time.Minute)
		deadlock := i%2 == 0
		task := analysis.Task{Execution: strconv.Itoa(i), State: "Save", Callee: "save", Ending: analysis.Done}
		first := analysis.Attempt{Start: at, End: at.Add(time.Second), Error: "States.Timeout"}
		if deadlock {
			first.Error = "Deadlock"
		}
		second := analysis.Attempt{Start: at.Add(3 * time.Second), End: at.Add(4 * time.Second)}
		if !p.recovers(i, deadlock) {
			second.Error, task.Ending = first.Error, analysis.GivenUp
		}
		task.Attempts = []analysis.Attempt{first, second}
		c.Add(task)
	}
	return p.err
}

// object takes what is put.
type object struct {
	key  string
	body []byte
	err  error
}

func (o *object) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	text, err := io.ReadAll(in.Body)
	o.key, o.body = *in.Bucket+"/"+*in.Key, text
	return &s3.PutObjectOutput{}, errors.Join(err, o.err)
}

func trained(t *testing.T, p past, o *object) (answer, string, error) {
	t.Helper()
	var out bytes.Buffer
	tr := trainer{machine: "arn:aws:states:us-east-1:123456789012:stateMachine:csv-import",
		at: s3model.Location{Bucket: "results", Key: "models/retries.json"}, objects: o, histories: p,
		now: func() time.Time { return noon }, log: slog.New(slog.DiscardHandler), out: &out}
	a, err := tr.train(t.Context())
	return a, out.String(), err
}

// mixed returns a task's outcome: share of ten succeed.
func mixed(i, share int) bool { return rand.New(rand.NewPCG(uint64(i), 7)).IntN(10) < share }

// TestAModelThatBeatsTheBaseRateIsStoredAndSaysSo: deadlocks recover in 9 of 10 cases, timeouts in 2.
func TestAModelThatBeatsTheBaseRateIsStoredAndSaysSo(t *testing.T) {
	t.Parallel()
	o := &object{}
	a, metrics, err := trained(t, past{tasks: 2000, recovers: func(i int, deadlock bool) bool {
		if deadlock {
			return mixed(i, 9)
		}
		return mixed(i, 2)
	}}, o)
	if err != nil || !a.Used || a.Retries != 2000 || a.Model == predict.BaseRate || a.Brier >= a.BaseRate {
		t.Fatalf("%+v, %v", a, err)
	}
	if !strings.HasPrefix(a.Note, "the model predicts better") {
		t.Error(a.Note)
	}
	m, err := predict.Read(o.body)
	if err != nil || o.key != "results/models/retries.json" || m.Kind != a.Model || m.Brier != a.Brier ||
		m.BaseRateBrier() != a.BaseRate {
		t.Errorf("stored in %s: %+v, %v", o.key, m, err)
	}
	for _, want := range []string{`"RetryModelUsed":1`, `"RetryModelBrier":0.1`, `"BaseRateBrier":0.2`, `"StateMachine":"csv-import"`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is not in %s", want, metrics)
		}
	}
}

// TestAModelThatDoesNotBeatTheBaseRateSaysSo: both errors recover in half of the cases.
func TestAModelThatDoesNotBeatTheBaseRateSaysSo(t *testing.T) {
	t.Parallel()
	o := &object{}
	a, metrics, err := trained(t, past{tasks: 2000, recovers: func(i int, _ bool) bool { return mixed(i, 5) }}, o)
	if err != nil || a.Used || a.Model != predict.BaseRate || a.Brier != a.BaseRate || o.body == nil {
		t.Errorf("%+v, %v", a, err)
	}
	if a.Note != "no model predicts better than the base rate: functions use the measured rates" ||
		!strings.Contains(metrics, `"RetryModelUsed":0`) {
		t.Error(a.Note, metrics)
	}
}

// TestTooLittleKeepsTheOldModel: nothing is written, and the invocation succeeds.
func TestTooLittleKeepsTheOldModel(t *testing.T) {
	t.Parallel()
	for tasks, want := range map[int]string{
		199: "no model was trained: there are 199 examples, and 200 are needed",
		600: "all have the same outcome",
	} {
		o := &object{}
		a, metrics, err := trained(t, past{tasks: tasks, recovers: func(int, bool) bool { return true }}, o)
		if err != nil || a.Used || !strings.Contains(a.Note, want) || o.body != nil || metrics != "" {
			t.Errorf("%d tasks: %+v, %v, %q", tasks, a, err, metrics)
		}
	}
}

func TestFailuresFail(t *testing.T) {
	t.Parallel()
	half := func(i int, _ bool) bool { return mixed(i, 5) }
	if _, _, err := trained(t, past{err: errors.New("AccessDeniedException")}, &object{}); err == nil {
		t.Error("histories that cannot be read")
	}
	_, metrics, err := trained(t, past{tasks: 2000, recovers: half}, &object{err: errors.New("AccessDenied")})
	if err == nil || !strings.Contains(err.Error(), "s3://results/models/retries.json: AccessDenied") || metrics != "" {
		t.Errorf("%v, %q", err, metrics)
	}
	for _, env := range []map[string]string{{}, {"STATE_MACHINE_ARN": "arn"}, {"STATE_MACHINE_ARN": "arn", "MODEL_OBJECT": "file.json"}} {
		if _, err := configured(t.Context(), func(name string) string { return env[name] }); err == nil {
			t.Errorf("%v is accepted", env)
		}
	}
}
