package asl_test

import (
	"slices"
	"testing"

	"stepback/asl"
	"stepback/asl/source"
)

func TestAcceptedAt(t *testing.T) {
	t.Parallel()
	const definition = `{"QueryLanguage":"JSONata","StartAt":"A","States":{"A":{"Type":"Map","Oops":1,"ItemProcessor":{"ProcessorConfig":{},
"StartAt":"B","States":{"B":{"Type":"Wait"}}},"Retry":[{}]}, "C":{}}}`
	path := func(steps ...string) source.Path {
		var p source.Path
		for _, s := range steps {
			if s == "0" {
				p = append(p, source.Element(0))
			} else {
				p = append(p, source.Member(s))
			}
		}
		return p
	}
	for _, c := range []struct {
		at     source.Path
		fields []string
		values []string
	}{
		{nil, []string{"Comment", "QueryLanguage", "StartAt", "States", "TimeoutSeconds", "Version"}, nil},
		{path("States", "A", "Retry", "0"), []string{"ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy", "Comment"}, nil},
		{path("States", "A", "Retry", "0", "JitterStrategy"), nil, []string{"NONE", "FULL"}},
		{path("States", "A", "ItemProcessor", "ProcessorConfig", "Mode"), nil, []string{"INLINE", "DISTRIBUTED"}},
		{path("States", "A", "ItemProcessor", "States", "B"), []string{"Type", "Comment", "QueryLanguage", "Next", "End", "Seconds", "Timestamp", "Assign", "Output"}, nil},
		{path("States", "C", "Type"), nil, []string{"Task", "Wait", "Pass", "Succeed", "Fail", "Choice", "Parallel", "Map"}},
		{path("States", "A", "Oops"), nil, nil},
	} {
		got := asl.Options{}.AcceptedAt(definition, c.at)
		if !slices.Equal(got.Fields, c.fields) || !slices.Equal(got.Values, c.values) {
			t.Errorf("%s accepts %+v", c.at, got)
		}
	}
	if got := (asl.Options{}).AcceptedAt(definition, path("States", "C")); !slices.Contains(got.Fields, "Arguments") || slices.Contains(got.Fields, "Parameters") || got.Language != asl.JSONata {
		t.Errorf("a state without a type accepts %+v", got)
	}
}

func TestVariablesAt(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt":"A","States":{
"A":{"Type":"Pass","Assign":{"a.$":"$.x"},"Next":"M"},
"M":{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","Assign":{"i":1},"Next":"J"},"J":{"Type":"Pass","End":true}}},
 "Assign":{"m":1},"Next":"D"},
"D":{"Type":"Map","ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"K","States":{"K":{"Type":"Pass","End":true}}},"End":true}}}`
	m, found := asl.Parse(definition)
	if m == nil {
		t.Fatal(found)
	}
	for state, want := range map[string][]string{"A": nil, "M": {"a"}, "I": {"a"}, "J": {"a", "i"}, "D": {"a", "m"}, "K": nil, "none": nil} {
		if got := m.VariablesAt(state); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", state, got, want)
		}
	}
}
