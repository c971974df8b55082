package statemachines

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
