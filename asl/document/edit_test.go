package document_test

import (
	"strings"
	"testing"

	"stepback/asl/document"
	"stepback/asl/source"
)

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// TestEdits makes changes in each form in which a definition is written, and compares the text.
func TestEdits(t *testing.T) {
	t.Parallel()
	retrier := source.Path{source.Member("Retry"), source.Element(0)}
	jitter := source.Change{Kind: source.SetMember, At: retrier.Join(source.Member("JitterStrategy")), Value: `"FULL"`}
	rate := source.Change{Kind: source.SetMember, At: retrier.Join(source.Member("BackoffRate")), Value: "2"}
	second := source.Change{Kind: source.InsertElement, At: retrier, Value: `{"ErrorEquals": ["Lambda.TooManyRequestsException"], "MaxAttempts": 6}`}
	name := source.Change{Kind: source.AppendElements, At: retrier.Join(source.Member("ErrorEquals")), Value: `"Busy", "Sandbox.Timedout"`}
	removed := source.Change{Kind: source.RemoveElement, At: source.Path{source.Member("Retry"), source.Element(1)}}
	const block = "Resource: ${Fn}\nRetry:\n  - ErrorEquals: [A]  # why\n    BackoffRate: 1\n  - ErrorEquals:\n      - B\n"
	for title, c := range map[string]struct {
		yaml       bool
		text, want string
		change     source.Change
	}{
		"JSON with placeholders": {false, `{"Resource": "${Fn}", "Retry": [{"MaxAttempts": ${N}, "BackoffRate": 1}]}`,
			`{"Resource": "${Fn}", "Retry": [{"JitterStrategy": "FULL", "MaxAttempts": ${N}, "BackoffRate": 1}]}`, jitter},
		"a value of JSON": {false, `{"Resource": "${Fn}", "Retry": [{"MaxAttempts": ${N}, "BackoffRate": 1}]}`,
			`{"Resource": "${Fn}", "Retry": [{"MaxAttempts": ${N}, "BackoffRate": 2}]}`, rate},
		"YAML member": {true, block, strings.Replace(block, "ErrorEquals: [A]", "JitterStrategy: FULL\n    ErrorEquals: [A]", 1), jitter},
		"YAML value":  {true, block, strings.Replace(block, "BackoffRate: 1", "BackoffRate: 2", 1), rate},
		"YAML retrier": {true, block, strings.Replace(block, "Retry:\n",
			"Retry:\n  - ErrorEquals:\n      - Lambda.TooManyRequestsException\n    MaxAttempts: 6\n", 1), second},
		"YAML names": {true, block, strings.Replace(block, "[A]", `[A, "Busy", "Sandbox.Timedout"]`, 1), name},
		"YAML last":  {true, block, strings.Replace(block, "  - ErrorEquals:\n      - B\n", "", 1), removed},
		"YAML in flow style": {true, "Retry: [{ErrorEquals: [A], BackoffRate: 1}, {ErrorEquals: [B]}]",
			"Retry: [{ErrorEquals: [A], BackoffRate: 1}]", removed},
		"YAML without a Retry": {true, "Resource: x\n", "Retry:\n  - ErrorEquals:\n      - \"A\"\nResource: x\n",
			source.Change{Kind: source.SetMember, At: source.Path{source.Member("Retry")}, Value: `[{"ErrorEquals": ["A"]}]`}},
		"YAML with CRLF": {true, crlf(block), crlf(strings.Replace(block, "Retry:\n",
			"Retry:\n  - ErrorEquals:\n      - Lambda.TooManyRequestsException\n    MaxAttempts: 6\n", 1)), second},
		"JSON with CRLF": {false, "{\"Retry\": [\r\n  {\"MaxAttempts\": 2}]}",
			"{\"Retry\": [\r\n  {\"JitterStrategy\": \"FULL\", \"MaxAttempts\": 2}]}", jitter},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			d := document.Read(c.text, document.Options{YAML: c.yaml})
			edits, err := d.Edits(c.change)
			if err != nil {
				t.Fatal(err)
			}
			if got := source.Apply(c.text, edits); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	d := document.Read(`{"Retry": [{"BackoffRate": ${Rate}}]}`, document.Options{Values: map[string]string{"Rate": "1"}})
	if edits, err := d.Edits(rate); err == nil {
		t.Errorf("a placeholder would be replaced: %v", edits)
	}
}
