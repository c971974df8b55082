package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stepback/asl"
	"stepback/asl/document"
	"stepback/asl/source"
	"stepback/jsonvalue"
)

// The expected results follow the source of CloudFormation's resource handler.

func TestSubstitute(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		values map[string]string
		want   string
		err    error
	}{
		{"a ${A} ${B} ${A}", map[string]string{"A": "1"}, "a 1 ${B} 1", nil},
		{"${A}", map[string]string{"A": "x${B}", "B": "y"}, "xy", nil},
		{"${A${B}}", map[string]string{"A1": "x", "B": "1"}, "x", nil},
		{"${A}", map[string]string{"A": "${B}", "B": "${C}", "C": "${D}"}, "${D}", nil},
		{"${A}", map[string]string{"A": "${B}", "B": "${A}"}, "", document.ErrCircular},
		{"${A}", map[string]string{"A": "x${A}"}, "", document.ErrCircular},
		{"none", map[string]string{"A": "${A}"}, "none", nil},
		{"${A", map[string]string{"A": "1"}, "${A", nil},
		{"${}${ A }", map[string]string{"A": "1"}, "${}${ A }", nil},
		{`"${A}"`, map[string]string{"A": `"`}, `"""`, nil},
	} {
		got, err := document.Substitute(c.text, c.values)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s %v: %q, %v", c.text, c.values, got, err)
		}
	}
	doubled := map[string]string{"V0": "x"}
	for i := range 40 {
		doubled[fmt.Sprintf("V%d", i+1)] = fmt.Sprintf("${V%d}${V%d}", i, i)
	}
	if _, err := document.Substitute("${V40}", doubled); !errors.Is(err, document.ErrCircular) {
		t.Errorf("a text of 2^40 bytes: %v", err)
	}
}

func TestOneDefinition(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]error{
		"": document.ErrNoDefinition, "RoleArn": document.ErrNoDefinition, "Definition": nil, "DefinitionString": nil,
		"DefinitionS3Location": nil, "Definition DefinitionString": document.ErrSeveral,
		"DefinitionS3Location DefinitionString": document.ErrSeveral, "Definition DefinitionS3Location": document.ErrSeveral,
	} {
		has := func(name string) bool { return strings.Contains(" "+given+" ", " "+name+" ") }
		if err := document.OneDefinition(has); !errors.Is(err, want) {
			t.Errorf("%q: %v", given, err)
		}
	}
}

func TestSubstitutionText(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"x"`: "x", `""`: "", `5`: "5", `-5`: "-5", `true`: "true", `2147483647`: "2147483647",
		`2147483648`: "!", `1.5`: "!", `1e3`: "!", `null`: "!", `[1]`: "!", `{"a": 1}`: "!",
	} {
		v, err := jsonvalue.Parse(value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := document.SubstitutionText(v)
		if want == "!" {
			if !errors.Is(err, document.ErrSubstitutionType) {
				t.Errorf("%s: %q, %v", value, got, err)
			}
		} else if got != want || err != nil {
			t.Errorf("%s: %q, %v", value, got, err)
		}
	}
}

func TestFromS3(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"{\"a\": 1}\r\n":  `{"a": 1}`,
		"\ufeff{\"a\":1}": `{"a":1}`,
		"a: 1\nb:\n  - x: [1, 2]\n  - {}\nc: []\nd: 'yes'\n": `{
  "a" : 1,
  "b" : [ {
    "x" : [ 1, 2 ]
  }, { } ],
  "c" : [ ],
  "d" : "yes"
}`,
		"{\"a\": 1,} # a trailing comma is YAML": "{\n  \"a\" : 1\n}",
		"a: [":                                   "!", "a: *x": "!", "\xff": "!",
	} {
		got, err := document.FromS3([]byte(body))
		if want == "!" {
			if !errors.Is(err, document.ErrInvalidDefinition) {
				t.Errorf("%q: %q, %v", body, got, err)
			}
		} else if got != want || err != nil {
			t.Errorf("%q: %s, %v", body, got, err)
		}
	}
	if _, err := document.FromS3(make([]byte, document.MaxSize+1)); !errors.Is(err, document.ErrTooLong) {
		t.Errorf("%v", err)
	}
}

// TestRepeatedSubstitutionInDocuments fills in values that contain placeholders, and keeps the positions behind them.
func TestRepeatedSubstitutionInDocuments(t *testing.T) {
	t.Parallel()
	text := task("\"Resource\": \"${Fn}\", \"Comment\": \"${A}\",\n\"Nxt\": 1")
	for _, yaml := range []bool{false, true} {
		d := document.Read(text, document.Options{YAML: yaml, Values: map[string]string{"A": "a ${B} ${C}", "B": "long text"}})
		found := d.Diagnose(check)
		if len(found) != 1 || found[0].Line != 3 || found[0].Column != 1 || !strings.Contains(d.JSON, "a long text ${C}") ||
			fmt.Sprint(d.Open) != "[Fn C]" {
			t.Errorf("YAML %t: %v %s %v", yaml, found, d.JSON, d.Open)
		}
	}
	d := document.Read(text, document.Options{Values: map[string]string{"A": "${A}"}})
	if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, "in a circle") {
		t.Errorf("%v", d.Problems)
	}
}

// TestPart reads a definition that is scattered over a file.
func TestPart(t *testing.T) {
	t.Parallel()
	const file = "first\n{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Pass\", \"Comment\": \"SUB\", \"Nxt\": 1, \"End\": true}}}\nlast"
	p := document.NewPart(file)
	sub := strings.Index(file, "SUB")
	p.Copy(source.Span{Start: len("first\n"), End: sub})
	p.Write("${Name} and a longer text", source.Span{Start: sub, End: sub + len("SUB")})
	p.Copy(source.Span{Start: sub + len("SUB"), End: len(file) - len("\nlast")})
	d := p.Read(document.Options{Values: map[string]string{"Name": "a value"}})
	got := asl.Render(d.Diagnose(check), d.Text, "f")
	if !strings.HasPrefix(got, "f:2:69: error SCHEMA_VALIDATION_FAILED: Field 'Nxt' is not supported") ||
		!strings.Contains(d.JSON, "a value and a longer") {
		t.Errorf("%s\n%s", got, d.JSON)
	}
	p.Copy(source.Span{Start: len(file) - len("last"), End: len(file)})
	found := p.Read(document.Options{YAML: true}).Diagnose(check)
	if len(found) != 1 || found[0].Code != asl.UnreadableDefinition {
		t.Errorf("%v", found)
	}
	d = document.Refuse(file, source.Span{Start: 6, End: 7}, "message", "hint")
	if got := d.Diagnose(check); len(got) != 1 || got[0].Line != 2 || got[0].Column != 1 {
		t.Errorf("%v", got)
	}
}
