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

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a-B_3.é": true, "日本": true, "a b": false, "a:b": false, "a\x00": false, "a\u0085": false, "a|b": false,
		"a`b": false, "\xff": false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
