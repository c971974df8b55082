package document_test

import (
	"strings"
	"testing"

	"stepback/asl/document"
	"stepback/jsonvalue"
)

// FuzzRead checks that nothing panics, that JSON without placeholders is unchanged, that YAML becomes JSON, and that
// every part of the JSON comes from a part of the text.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "{}", "StartAt: A\nStates:\n  A: {Type: Succeed}\n",
		`{"Resource": "${A.Arn}", "n": ${B}, "\"": "arn:${AWS::Region}"}`,
		"a: &x [1]\nb: *x", "a: |2\n  x\n\u2028b: é\n", "? a\n: !Sub \"${B}\"", "\"${", "'", "a: '${X}\n  y'",
		"---\n...\n---\n",
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, yaml bool) {
		d := document.Read(text, document.Options{YAML: yaml, Values: map[string]string{"B": "a \"\nvalue"}})
		found := d.Diagnose(check)
		for _, p := range found {
			if p.Span.Start < 0 || p.Span.Start > p.Span.End || p.Span.End > len(text)+len(" ") || p.Line < 1 ||
				p.Column < 1 {
				t.Fatalf("%+v is outside of %q", p, text)
			}
		}
		if len(d.Problems) > 0 {
			return
		}
		if !yaml && !strings.Contains(text, "${") && d.JSON != text {
			t.Fatalf("%q became %q", text, d.JSON)
		}
		if _, err := jsonvalue.Parse(d.JSON); yaml && d.JSON != "" && err != nil {
			t.Fatalf("%q became %q: %v", text, d.JSON, err)
		}
	})
}
