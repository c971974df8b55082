package statemachine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"stepback/statemachine"
)

// TestAnExplanationAsJSON checks the JSON style: lowerCamel names, seconds, and AWS's names inside a retrier.
func TestAnExplanationAsJSON(t *testing.T) {
	t.Parallel()
	e, err := statemachine.DefaultTable().Explain(statemachine.ProcessSingleUserRecord)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"state":"ProcessSingleUserRecord","timeoutSeconds":30,"heartbeatSeconds":10,"retriers":[{"retrier":{"ErrorEquals":[`,
		`"retries":4,"waits":[{"minSeconds":0,"meanSeconds":1,"maxSeconds":2},`,
		`"total":{"minSeconds":0,"meanSeconds":11.872,"maxSeconds":23.744},"longestSeconds":173.744}`,
		`"wait":{"minSeconds":`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("lacks %s:\n%s", want, text)
		}
	}
}
