package stepfunctions

import (
	"reflect"
	"testing"
)

func TestVariableReferences(t *testing.T) {
	t.Parallel()
	for definition, want := range map[string]map[string][]string{
		`{"States":{"A":{"Type":"Pass","InputPath":"$b.c","Parameters":{"x.$":"$a[0]","y":"$z","w.$":"$$.Execution.Id"}}}}`: {"A": {"a", "b"}},
		`{"States":{"A":{"Type":"Pass","Parameters":{"x.$":"States.Format('it\\'s $q {}', $v)"}}}}`:                         {"A": {"v"}},
		`{"States":{"A":{"Type":"Pass","Assign":{"x":1},"Result":{"InputPath":"$v"}}}}`:                                     nil,
		`{"States":{"M":{"Type":"Map","ItemsPath":"$l","ItemProcessor":{"States":{"I":{"Type":"Wait","SecondsPath":"$s"}}}}}}`: {
			"M": {"l"}, "I": {"s"},
		},
		`{"QueryLanguage":"JSONata","States":{"A":{"Type":"Pass","Output":"{% $sum($n) + $states.input.k & '$no' %}"}}}`: {"A": {"n"}},
		`not JSON`: nil,
	} {
		if got := variableReferences(definition); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", definition, got, want)
		}
	}
}

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
		if _, err := parseARN(text, kindMachine); err != nil {
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
		if got := validName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
