package review_test

import (
	"fmt"
	"strings"
	"testing"

	"stepback/asl"
	"stepback/retrypatterns"
	"stepback/retrypatterns/review"
)

func TestLayersOf(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "Rows", "States": {"Rows": {"Type": "Map", "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}],
		"ItemProcessor": {"StartAt": "Save", "States": {
			"Save": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
				"Parameters": {"FunctionName": "f", "InvocationType": "KIND"},
				"Retry": [{"ErrorEquals": ["Busy"]}, {"ErrorEquals": ["States.ALL"], "MaxAttempts": 4}], "Next": "Send"},
			"Send": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "End": true}}}, "End": true}}}`
	for _, c := range []struct {
		state, kind, want string
		product           int
	}{
		{"Save", "RequestResponse", "an AWS SDK in the function, for each of its calls 3, the Retry of Save 5, the Retry of the Map Rows 2", 30},
		{"Save", "Event", "an AWS SDK in the function, for each of its calls 3, Lambda, invoked with InvocationType Event 3, " +
			"the Retry of Save 5, the Retry of the Map Rows 2", 90},
		{"Send", "Event", "the Retry of the Map Rows 2", 2},
		{"Rows", "Event", "the Retry of the Map Rows 2", 2},
		{"Nowhere", "Event", "", 1},
	} {
		m, found := asl.Parse(strings.Replace(text, "KIND", c.kind, 1))
		if m == nil {
			t.Fatal(found)
		}
		layers := review.LayersOf(m, c.state)
		var got []string
		for _, l := range layers {
			got = append(got, fmt.Sprint(l.Name, " ", l.Attempts))
		}
		if strings.Join(got, ", ") != c.want || retrypatterns.AttemptsOf(layers) != c.product {
			t.Errorf("%s, %s: %s in %d attempts, want %s in %d", c.state, c.kind, strings.Join(got, ", "),
				retrypatterns.AttemptsOf(layers), c.want, c.product)
		}
	}
	m, _ := asl.Parse(text)
	if note, want := review.LayersOf(m, "Save")[0].Note, "waits of at most 150ms in all, 3s if the service throttles; "+
		"4 attempts for DynamoDB; until November 2026 waits of up to 6s"; note != want {
		t.Errorf("note %q, want %q", note, want)
	}
}
