package asl_test

import (
	"strings"
	"testing"

	"stepback/asl"
)

// A branch may set the QueryLanguage for its states.
func TestLanguageOfABranch(t *testing.T) {
	t.Parallel()
	const inner = `"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}`
	for scope, definition := range map[string]string{
		"branch": `"S":{"Type":"Parallel","End":true,"Branches":[{%,` + inner + `}]}`,
	} {
		for _, c := range []struct{ machine, own, want, err string }{
			{"JSONPath", "JSONata", "JSONata", ""},
			{"JSONPath", "JSONPath", "JSONPath", ""},
			{"JSONata", "JSONata", "JSONata", ""},
			{"JSONata", "JSONPath", "", "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine"},
			{"JSONPath", "XPath", "", "Value should be one of the following: [JSONPath, JSONata]"},
		} {
			text := strings.Replace(definition, "%", `"QueryLanguage":"`+c.own+`"`, 1)
			m, found := asl.Parse(`{"QueryLanguage":"` + c.machine + `","StartAt":"S","States":{` + text + `}}`)
			if c.err != "" {
				if len(found) != 1 || found[0].Message != c.err {
					t.Errorf("%s %s in %s: got %v", scope, c.own, c.machine, found)
				}
				continue
			}
			if len(found) > 0 {
				t.Fatalf("%s %s in %s: got %v", scope, c.own, c.machine, found)
			}
			graph := m.States[0].Branches
			if got := string(graph[0].States[0].QueryLanguage); got != c.want ||
				string(m.States[0].QueryLanguage) != c.machine {
				t.Errorf("%s %s in %s: its state has %s", scope, c.own, c.machine, got)
			}
		}
	}
}

// An item processor with a QueryLanguage is rejected, as by the service.
func TestLanguageOfAnItemProcessor(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"ItemProcessor", "Iterator"} {
		_, found := asl.Parse(`{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"` + field +
			`":{"QueryLanguage":"JSONata",
			"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}}}}`)
		if len(found) != 1 || found[0].Message != "Field 'QueryLanguage' is not supported" ||
			found[0].Location != "/States/M/"+field {
			t.Errorf("%s: got %v", field, found)
		}
	}
}
