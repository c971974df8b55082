package machinetest_test

import (
	"bytes"
	"strings"
	"testing"

	"stepback/stepbacktest/machinetest"
)

// TestRecordedTestsPass records each test's execution and replays it.
func TestRecordedTestsPass(t *testing.T) {
	t.Parallel()
	for _, r := range run(t, good)[:3] {
		var b bytes.Buffer
		recording := machinetest.Recording{Name: r.Test.Name, Definition: "orders.asl.json", Events: r.Events}
		if err := recording.Write(&b); err != nil {
			t.Fatal(err)
		}
		again := run(t, b.String())
		if len(again) != 1 || !again[0].Passed() {
			t.Errorf("%v\n%s", again[0].Failures, &b)
		}
		for _, want := range []string{"definition: \"orders.asl.json\"", "path: [\"Reserve\", \"Charge\", ", "status: "} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("lacks %s:\n%s", want, &b)
			}
		}
	}
}

// A recorded Map replays with the right response for each iteration, in any order.
func TestARecordingTellsInputsApart(t *testing.T) {
	t.Parallel()
	maps := files{"m.asl.json": `{"StartAt": "All", "States": {"All": {"Type": "Map", "End": true, "ItemProcessor": {
		"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:f",
		"Retry": [{"ErrorEquals": ["Busy"]}], "End": true}}}}}}`}
	parse := func(text string) *machinetest.Result {
		t.Helper()
		f, err := machinetest.Parse("m.test.yaml", []byte(text), "m.asl.json", maps)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		r, err := machinetest.Run(t.Context(), f, &f.Tests[0])
		if err != nil || !r.Passed() {
			t.Fatalf("%v %v\n%s", err, r, text)
		}
		return r
	}
	r := parse(`tests: [{name: a, input: [1, 2, 3], mocks: {One: [{input: 3, return: c}, {input: 1, error: Busy},
		{input: 1, return: a}, {input: 2, return: b}]}, expect: {output: [a, b, c], attempts: {One: 4}}}]`)
	var b bytes.Buffer
	if err := (&machinetest.Recording{Name: "a", Definition: "m.asl.json", Events: r.Events}).Write(&b); err != nil {
		t.Fatal(err)
	}
	parse(b.String())
	if !strings.Contains(b.String(), `{input: 1, error: "Busy"`) || strings.Contains(b.String(), "path:") {
		t.Errorf("%s", &b)
	}
}
