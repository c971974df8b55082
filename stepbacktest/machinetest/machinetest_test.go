package machinetest_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"stepback/stepbacktest/machinetest"
)

const definition = `{"StartAt": "Reserve", "States": {
	"Reserve": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "reserve", "Payload.$": "$"},
		"ResultPath": "$.reserved", "Next": "Charge"},
	"Charge": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge", "TimeoutSeconds": 30,
		"Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "BackoffRate": 2}, {"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}],
		"Catch": [{"ErrorEquals": ["Declined"], "ResultPath": "$.error", "Next": "Release"}], "ResultPath": "$.charge", "Next": "Large"},
	"Large": {"Type": "Choice", "Choices": [{"Variable": "$.cents", "NumericGreaterThan": 1000, "Next": "Tell"}], "Default": "Done"},
	"Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "t", "Message": "m"},
		"ResultPath": null, "Next": "Done"},
	"Release": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:release", "ResultPath": null, "Next": "Failed"},
	"Failed": {"Type": "Fail", "Error": "OrderFailed"},
	"Done": {"Type": "Succeed"}}}`

const good = `
definition: orders.asl.json
tests:
  - name: busy twice
    input: {cents: 5}
    mocks:
      Reserve: {return: {Payload: 1}}
      Charge:
        - {error: Busy, times: 2}
        - return: {paid: true}
    expect:
      status: SUCCEEDED
      output: {cents: 5, reserved: {Payload: 1}, charge: {paid: true}}
      path: [Reserve, Charge, Large, Done]
      attempts: {Charge: 3, Tell: 0}
      waits: {Charge: [2s, 4s]}
      took: 6s
  - name: declined
    input: {cents: 5000}
    mocks:
      Reserve: {return: {}}
      Charge: {error: Declined, cause: no money}
      Release: {return: null}
    expect: {status: FAILED, error: OrderFailed, entered: [Release], never: [Done]}
  - name: hangs, then a large one
    input: {cents: 5000}
    mocks:
      Reserve: {return: {}}
      Charge: [{hang: true}, {return: {}}]
      Tell: {return: {}, input: {TopicArn: t, Message: m}}
    expect: {status: SUCCEEDED, contains: {charge: {}}, waits: {Charge: [1s]}, took: 31s}
  - name: throttled
    mocks:
      Reserve: {return: {}, times: always}
    faults: ["Reserve:throttle:100%"]
    expect: {error: Lambda.TooManyRequestsException}
`

// files holds the files that a test file names.
type files map[string]string

func (f files) Definition(path string, _ map[string]string) (string, error) {
	text, err := f.Text(path)
	return string(text), err
}

func (f files) Text(path string) ([]byte, error) {
	if text, ok := f[path]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("%s: no such file", path)
}

var opened = files{"orders.asl.json": definition, "mocks.json": `{"StateMachines": {"Orders": {"TestCases": {
	"Happy": {"Reserve": "R", "Charge": "C"}, "Odd": {"Charg": "C"}}}},
	"MockedResponses": {"R": {"0": {"Return": {}}}, "C": {"0": {"Throw": {"Error": "Busy", "Cause": "x"}}, "1": {"Return": 1}}}}`}

// run parses and runs all tests of a text.
func run(t *testing.T, text string) []*machinetest.Result {
	t.Helper()
	f, err := machinetest.Parse("orders.test.yaml", []byte(text), "orders.asl.json", opened)
	if err != nil {
		t.Fatal(err)
	}
	results := make([]*machinetest.Result, 0, len(f.Tests))
	for i := range f.Tests {
		r, err := machinetest.Run(t.Context(), f, &f.Tests[i])
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	return results
}

func TestTestsPass(t *testing.T) {
	t.Parallel()
	results := run(t, good)
	if len(results) != 4 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		if !r.Passed() {
			t.Errorf("%s: %s", r.Test.Name, strings.Join(r.Failures, "\n"))
		}
	}
	c := machinetest.Cover(results[0].File.Machine, "orders.asl.json", results)
	got := fmt.Sprintf("%d/%d %d/%d %d/%d %d/%d", c.States.Covered, c.States.All, c.Transitions.Covered,
		c.Transitions.All, c.Catchers.Covered, c.Catchers.All, c.Retriers.Covered, c.Retriers.All)
	if got != "7/7 6/6 1/1 2/2" {
		t.Errorf("coverage %s: %+v", got, c)
	}
	c = machinetest.Cover(results[0].File.Machine, "orders.asl.json", results[:1])
	if strings.Join(c.States.Missed, " ") != "Tell Release Failed" ||
		strings.Join(c.Catchers.Missed, " ") != "Charge Catch[0] → Release" ||
		strings.Join(c.Retriers.Missed, " ") != "Charge Retry[1]" {
		t.Errorf("%+v", c)
	}
}

// TestMockFiles uses the responses in a mock file of Step Functions Local.
func TestMockFiles(t *testing.T) {
	t.Parallel()
	results := run(t, `{definition: orders.asl.json, mocks: mocks.json, tests: [
		{name: happy, input: {cents: 1}, testCase: Happy, expect: {status: SUCCEEDED, attempts: {Charge: 2}}},
		{name: over, input: {cents: 5000}, testCase: Happy, expect: {status: SUCCEEDED}}]}`)
	if !results[0].Passed() {
		t.Errorf("%v", results[0].Failures)
	}
	if f := strings.Join(results[1].Failures, "\n"); !strings.Contains(f, "the state Tell calls a service and has no response") {
		t.Errorf("an unmocked state: %s", f)
	}
}

// Responses that no task asks for are noted, with what was asked instead.
func TestResponsesNobodyAskedFor(t *testing.T) {
	t.Parallel()
	results := run(t, `
definition: orders.asl.json
mocks: mocks.json
tests:
  - name: the item instead of the Parameters
    input: {cents: 5}
    mocks:
      Reserve:
        - {input: {cents: 5}, return: {special: true}}
        - {return: {}, times: always}
      Charge: [{return: {}, times: 3}, {error: Busy}]
      Release: {return: null}
    expect: {status: SUCCEEDED}
  - name: all asked for
    input: {cents: 5}
    mocks: {Reserve: {return: {}}, Charge: {return: {}, times: always}, Release: {return: 1, times: always}}
    expect: {status: SUCCEEDED}
  - name: from the mock file
    input: {cents: 5}
    testCase: Happy
    mocks: {Reserve: {error: Gone}}
    expect: {status: FAILED}
  - name: for another input
    input: {cents: 5}
    mocks: {Reserve: {input: {cents: 6}, return: {}}}
    expect: {status: FAILED}
`)
	for i, want := range []string{
		`orders.test.yaml:11: mocks: the response of Charge was asked for 1 of 3 times
orders.test.yaml:11: mocks: the response of Charge was not asked for
orders.test.yaml:12: mocks: the response of Release was not asked for: the state made no attempt
orders.test.yaml:9: mocks: the response of Reserve for the Parameters {"cents":5} was not asked for; its attempts had {"FunctionName":"reserve","Payload":{"cents":5}}`,
		"",
		`orders.test.yaml: testCase: 0 of the 2 answers of the response C of Charge were asked for
orders.test.yaml: testCase: 0 of the 1 answer of the response R of Reserve were asked for`,
		`orders.test.yaml:25: mocks: the response of Reserve for the Parameters {"cents":6} was not asked for; its attempts had {"FunctionName":"reserve","Payload":{"cents":5}}`,
	} {
		if got := strings.Join(results[i].Notes, "\n"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", results[i].Test.Name, got, want)
		}
	}
	if f := strings.Join(results[3].Failures, "\n"); !strings.Contains(f,
		`attempt 1 of the state Reserve has no response: its responses under mocks are used up, or their input is not its Parameters {"FunctionName":"reserve","Payload":{"cents":5}}`) {
		t.Errorf("%s", f)
	}
}

// Failures show both the expectation and what happened.
func TestWhatIsNotMet(t *testing.T) {
	t.Parallel()
	results := run(t, `
definition: orders.asl.json
tests:
  - name: all wrong
    input: {cents: 5}
    mocks: {Reserve: {return: {a: [1, 2]}}, Charge: {return: 7}}
    expect:
      status: FAILED
      error: Declined
      cause: money
      output: {cents: 6, reserved: {a: [1, 3]}, more: 1}
      path: [Reserve, Charge, Release]
      entered: [Tell]
      never: [Large]
      attempts: {Charge: 2}
      waits: {Charge: [2s]}
      took: 1m
  - name: used up
    input: {cents: 5}
    mocks: {Reserve: {return: {}}, Charge: {error: Busy, times: 2}}
    expect: {status: SUCCEEDED}
`)
	got := strings.Join(results[0].Failures, "\n")
	for _, want := range []string{
		"orders.test.yaml:8: status: expected FAILED, got SUCCEEDED", "orders.test.yaml:9: error: expected Declined",
		`cause: expected one with "money", got ""`, "output: $.cents is 5, expected 6",
		"output: $.reserved.a[1] is 2, expected 3", "output: $.more is missing, expected 1",
		"output: $.charge is 7, and was not expected",
		"path: differs after Reserve → Charge\n      expected Release\n      got      Large → Done",
		"entered: Tell was not", "never: Large was entered", "attempts: Charge ran 1 time, expected 2",
		"waits: Charge waited never, expected 2s", "took: 0s, expected 1m0s",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if f := strings.Join(results[1].Failures, "\n"); !strings.Contains(f, "attempt 3 of the state Charge has no response") {
		t.Errorf("%s", f)
	}
	reports := make([]machinetest.Report, len(results))
	for i, r := range results {
		reports[i] = r.Report()
	}
	var b bytes.Buffer
	if err := machinetest.JUnit(&b, reports); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<testsuite name="orders.test.yaml" tests="2" failures="2">`,
		`<testcase name="all wrong" classname="orders.asl.json" file="orders.test.yaml" line="4"`,
		`<failure message="orders.test.yaml:8: status: expected FAILED, got SUCCEEDED">`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %s:\n%s", want, b.String())
		}
	}
}

// Parse errors name line and column, and suggest similar names.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const head = "definition: orders.asl.json\nmocks: mocks.json\ntests:\n  - name: t\n"
	for text, want := range map[string]string{
		"tests: []\nodd: 1\n":                      `orders.test.yaml:2:1: there is no member "odd" here`,
		head:                                       "the member expect is missing",
		head + "    expect: {stauts: FAILED}\n":    `5:14: tests[0].expect: there is no member "stauts" here (did you mean status?)`,
		head + "    expect: {path: [Chareg]}\n":    "the definition has no state Chareg; did you mean Charge?",
		head + "    expect: {attempts: {Done: 1}}": "the definition has no Task state Done",
		head + "    mocks: {Done: {return: 1}}\n    expect: {}\n":                  "has no Task state Done",
		head + "    mocks: {Charge: {return: 1, error: E}}\n    expect: {}\n":      "a response needs exactly one of return, error and hang",
		head + "    testCase: Nope\n    expect: {}\n":                              "has no test case Nope",
		head + "    testCase: Odd\n    expect: {}\n":                               "mocks the state Charg, which the state machine Orders does not have; did you mean Charge?",
		head + "    faults: [\"Nowhere:hang:1%\"]\n    expect: {}\n":               `there is no state "Nowhere"`,
		head + "    input: 1\n    inputFile: x.json\n    expect: {}\n":             "the input is given twice",
		"definition: none.json\ntests: []\n":                                       "orders.test.yaml: the definition: none.json: no such file",
		"definition: orders.asl.json\nmocks: none.json\ntests: []\n":               "orders.test.yaml: mocks: none.json: no such file",
		"definition: orders.asl.json\ntests: [{name: a, testCase: B, expect: {}}]": "there is no mock configuration",
	} {
		if _, err := machinetest.Parse("orders.test.yaml", []byte(text), "orders.asl.json", opened); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v\nwant %s", text, err, want)
		}
	}
}

// The error for a refused definition shows the reason.
func TestARefusedDefinition(t *testing.T) {
	t.Parallel()
	bad := files{"m.asl.json": `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}}}`}
	_, err := machinetest.Parse("m.test.yaml", []byte("tests: [{name: a, expect: {}}]"), "m.asl.json", bad)
	var refused *machinetest.RefusedError
	if !errors.As(err, &refused) ||
		!strings.Contains(refused.Text, "m.asl.json:1:") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = machinetest.Parse("orders.test.yaml", []byte(text), "orders.asl.json", opened)
	})
}
