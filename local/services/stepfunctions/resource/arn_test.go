package resource

import "testing"

func TestParseARN(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"arn:aws:states:r:1:stateMachine:m":   "",
		"arn:aws:states:r:1:stateMachine:m:2": "",
		"arn:aws:states:r:1:express:m:n:u":    "InvalidArn: Invalid Arn: 'Resource type not valid in this context: express'",
		"m":                                   "InvalidArn: Invalid Arn: 'Invalid ARN prefix: m'",
		"arn:aws:states:r:1:stateMachine:":    "InvalidArn: Invalid Arn: 'Invalid ARN: arn:aws:states:r:1:stateMachine:'",
		"arn:aws:sqs:r:1:stateMachine:m":      "InvalidArn: Invalid Arn: 'Invalid ARN: arn:aws:sqs:r:1:stateMachine:m'",
	} {
		got := ""
		if _, err := Parse(text, KindMachine); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
