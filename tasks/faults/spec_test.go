package faults_test

import (
	"strings"
	"testing"

	"stepback/tasks/faults"
)

func TestParseSpec(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]faults.Spec{
		"ProcessSingleUserRecord:DatabaseConnectionError:0.1": {State: "ProcessSingleUserRecord",
			Error: "DatabaseConnectionError", Rate: 0.1},
		"A:hang:10%": {State: "A", Error: "hang", Rate: 0.1},
		//nolint:gocritic // spaces are allowed
		" A : Lambda.ServiceException : 1": {State: "A", Error: "Lambda.ServiceException", Rate: 1},
		"A:States.Timeout:0":               {State: "A", Error: "States.Timeout", Rate: 0},
		"A:S3.SlowDown:100%":               {State: "A", Error: "S3.SlowDown", Rate: 1},
	} {
		got, err := faults.ParseSpec(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		again, err := faults.ParseSpec(got.String())
		if err != nil || again != got {
			t.Errorf("%q written as %q is read as %+v, %v", text, got, again, err)
		}
	}
}

func TestParseSpecSaysWhatIsAccepted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "a fault is STATE:ERROR:RATE, for example",
		"A:hang":                               "2 parts separated by colons, not 3",
		":hang:0.1":                            "the state is missing",
		"B:hang:0.1":                           `there is no state "B"; the states are A, C`,
		"A::0.1":                               "the error is missing; use hang, crash, throttle or an error name",
		"A:Hang:0.1":                           `write it "hang"`,
		"A:no name:0.1":                        "contains a blank",
		"A:States.ALL:0.1":                     "no task can fail with States.ALL; of the reserved names, States.ExecutionLimitExceeded, States.TaskFailed, States.Timeout",
		"A:hang:2":                             `the rate "2" is neither a number from 0 to 1 nor a percentage`,
		"A:hang:101%":                          "the rate",
		"A:hang:-0.1":                          "the rate",
		"A:hang:NaN":                           "the rate",
		"A:hang:often":                         "the rate",
		"A:" + strings.Repeat("x", 257) + ":1": "257 bytes",
	} {
		_, err := faults.ParseSpec(text, "A", "C")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add("A:hang:10%")
	f.Add("::")
	f.Add("A:States.Timeout:1e-3")
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := faults.ParseSpec(text)
		if err != nil {
			return
		}
		if again, err := faults.ParseSpec(spec.String()); err != nil || again != spec {
			t.Errorf("%q: %+v, %+v, %v", text, spec, again, err)
		}
	})
}
