package localstack_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"stepback/asl"
	"stepback/localstack"
	"stepback/statemachine"
)

func TestDefinitionRewrites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"whole percentage": {
			`{"StartAt":"M","States":{"M":{"Type":"Map","ToleratedFailurePercentage":5}}}`,
			`{"StartAt":"M","States":{"M":{"ToleratedFailurePercentage":5.0,"Type":"Map"}}}`,
		},
		"fraction": {
			`{"States":{"M":{"ToleratedFailurePercentage":2.5}}}`,
			`{"States":{"M":{"ToleratedFailurePercentage":2.5}}}`,
		},
		"express children": {
			`{"States":{"M":{"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"EXPRESS"}}}}}`,
			`{"States":{"M":{"ItemProcessor":{"ProcessorConfig":{"ExecutionType":"STANDARD","Mode":"DISTRIBUTED"}}}}}`,
		},
		"inline children": {
			`{"States":{"M":{"ItemProcessor":{"ProcessorConfig":{"Mode":"INLINE"}}}}}`,
			`{"States":{"M":{"ItemProcessor":{"ProcessorConfig":{"Mode":"INLINE"}}}}}`,
		},
		"comma, inside a branch": {
			`{"States":{"P":{"Branches":[{"States":{"M":{"ItemReader":{"ReaderConfig":{"CSVDelimiter":"COMMA","InputType":"CSV"}}}}}]}}}`,
			`{"States":{"P":{"Branches":[{"States":{"M":{"ItemReader":{"ReaderConfig":{"InputType":"CSV"}}}}}]}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := localstack.Definition([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if g := strings.Join(strings.Fields(string(got)), ""); g != c.want {
				t.Errorf("got  %s\nwant %s", g, c.want)
			}
		})
	}
}

func TestDefinitionRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`[]`:                                  "the definition is not a JSON object: json: cannot unmarshal array into Go value of type map[string]interface {}",
		`{"States":{"M":{"ItemBatcher":{}}}}`: "state M: LocalStack has no ItemBatcher; build the definition in the shape single",
		`{"States":{"O":{"ItemProcessor":{"States":{"M":{"ItemReader":{"ReaderConfig":{"CSVDelimiter":"TAB"}}}}}}}}`: "state M: LocalStack reads CSV files with commas only, not TAB; convert the file first",
	} {
		if _, err := localstack.Definition([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}

// TestDefinitionOfTheImport expects no change to the import's machine except the spelling of one number.
func TestDefinitionOfTheImport(t *testing.T) {
	t.Parallel()
	o := statemachine.Substitutions()
	o.Shape, o.BatchSize = statemachine.Single, 1
	aws, err := statemachine.Definition(statemachine.DefaultTable(), o)
	if err != nil {
		t.Fatal(err)
	}
	local, err := localstack.Definition(aws)
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := asl.Parse(string(local)); len(problems) != 0 {
		t.Errorf("%v", problems)
	}
	if !strings.Contains(string(local), `"ToleratedFailurePercentage": 5.0`) {
		t.Error("the percentage is still a whole number")
	}
	var a, b any
	if json.Unmarshal(aws, &a) != nil || json.Unmarshal(local, &b) != nil || !reflect.DeepEqual(a, b) {
		t.Error("the definitions differ in more than spelling")
	}
	o.Shape, o.BatchSize = statemachine.Batch, 100
	batched, err := statemachine.Definition(statemachine.DefaultTable(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := localstack.Definition(batched); err == nil {
		t.Error("a definition with an ItemBatcher is taken")
	}
}

// TestDefinitionOfManyFiles expects no change to the state machine of many files except the spelling of one number.
func TestDefinitionOfManyFiles(t *testing.T) {
	t.Parallel()
	aws, err := statemachine.FilesDefinition(statemachine.FilesTable(time.Hour), statemachine.FilesSubstitutions())
	if err != nil {
		t.Fatal(err)
	}
	local, err := localstack.Definition(aws)
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := asl.Parse(string(local)); len(problems) != 0 {
		t.Errorf("%v", problems)
	}
	if !strings.Contains(string(local), `"ToleratedFailurePercentage": 100.0`) {
		t.Error("the percentage is still a whole number")
	}
	var a, b any
	if json.Unmarshal(aws, &a) != nil || json.Unmarshal(local, &b) != nil || !reflect.DeepEqual(a, b) {
		t.Error("the definitions differ in more than spelling")
	}
}
