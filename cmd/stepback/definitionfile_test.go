package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// orderYAML is a definition in YAML, as SAM uses it.
const orderYAML = `Comment: An order
StartAt: Reserve
States:
  Reserve:
    Type: Task
    Resource: ${ReserveFunction.Arn}
    TimeoutSeconds: ${Patience}
    Retry:
      - ErrorEquals: [States.ALL]
        MaxAttempts: 2
    Next: Done
  Done:
    Type: Pass
    Result:
      table: ${OrderTable}
    End: yes
`

func TestValidateReadsYAML(t *testing.T) {
	t.Parallel()
	path := file(t, "order.asl.yaml", orderYAML)
	stepback(t, "validate", path).ends(t, exit.OK,
		path+": accepted, whatever the values of ${ReserveFunction.Arn}, ${Patience}, ${OrderTable} are\n")
	stepback(t, "validate", filepath.Dir(path), "--json").ends(t, exit.OK, `"placeholders": [`)
	stepback(t, "validate", path, "--substitute", "Patience=soon").ends(t, exit.Data,
		path+":7:21: error SCHEMA_VALIDATION_FAILED: Expected value of type Integer (at /States/Reserve/TimeoutSeconds)\n"+
			"  7 |     TimeoutSeconds: ${Patience}\n    |                     ^^^^^^^^^^^\n")
	stepback(t, "validate", path, "--substitute", "Patience").complains(t, exit.Usage,
		"--substitute Patience: give NAME=VALUE, or @FILE")
	stepback(t, "validate", path, "--substitute", "@"+path).complains(t, exit.Usage, path+" is not a JSON object")
}

func TestSubstitutionsFromAFile(t *testing.T) {
	t.Parallel()
	path := file(t, "order.asl.yaml", orderYAML)
	values := file(t, "values.json", `{"ReserveFunction.Arn": "reserve", "Patience": 7, "OrderTable": "orders"}`)
	stepback(t, "validate", path, "--substitute", "@"+values, "--substitute",
		"ReserveFunction.Arn=arn:aws:lambda:us-east-1:123456789012:function:reserve").
		ends(t, exit.OK, path+": accepted\n")
	stepback(t, "validate", path, "--substitute", "@"+values).ends(t, exit.Data,
		":6:15: error SCHEMA_VALIDATION_FAILED: Value is not a valid resource ARN")
}

func TestExecRunsYAML(t *testing.T) {
	t.Parallel()
	path := file(t, "order.asl.yml", orderYAML)
	s := stepback(t, "exec", path, "--lambda", "ReserveFunction=cat", "--substitute", "Patience=30")
	s.ends(t, exit.OK)
	if s.out != `{"table":"${OrderTable}"}`+"\n" {
		t.Errorf("printed %s, %s", s.out, s.err)
	}
	stepback(t, "exec", path, "--lambda", "ReserveFunction=cat").complains(t, exit.Usage,
		path+": give ${Patience} a value with --substitute NAME=VALUE")
	stepback(t, "exec", path, "--lambda", "ReserveFunction=cat", "--substitute", "Patiense=30").complains(t, exit.Usage,
		"--substitute Patiense=30: there is no placeholder ${Patiense}; did you mean ${Patience}?")
	stepback(t, "exec", path, "--lambda", "ReserveFunction=cat", "--substitute", "X=30").complains(t, exit.Usage,
		"--substitute X=30: there is no placeholder ${X}; there is ${ReserveFunction.Arn}, ${Patience}, ${OrderTable}")
	stepback(t, "exec", file(t, "bom.json", "\ufeff"+accepted)).complains(t, exit.Data,
		"bom.json:1:1: error UNREADABLE_DEFINITION: ")
}

func TestReviewReadsYAML(t *testing.T) {
	t.Parallel()
	path := file(t, "order.asl.yaml", orderYAML)
	stepback(t, "retries", "review", path, "--substitute", "Patience=30").ends(t, exit.OK,
		path+":9:23: warning EVERY_ERROR_RETRIED", "/States/Reserve")
	stepback(t, "retries", "review", path).ends(t, exit.OK, "not reviewed: "+path+": give ${Patience}")
	stepback(t, "retries", "review", file(t, "n.asl.json",
		`{"StartAt":"A","TimeoutSeconds":${T},"States":{"A":{"Type":"Succeed"}}}`)).
		ends(t, exit.OK, "n.asl.json: give ${T} a value")
}

// A placeholder is not taken for a function where the state names errors of another service.
func TestReviewDoesNotGuessResources(t *testing.T) {
	t.Parallel()
	path := file(t, "item.asl.json", `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "${GetItem}", "End": true,
		"Retry": [{"ErrorEquals": ["DynamoDb.ThrottlingException"], "MaxAttempts": 5, "JitterStrategy": "FULL"}]}}}`)
	stepback(t, "retries", "review", path).ends(t, exit.OK, path+": nothing found\n")
	stepback(t, "retries", "review", path, "--substitute",
		"GetItem=arn:aws:lambda:us-east-1:123456789012:function:GetItem").
		ends(t, exit.OK, "warning LAMBDA_FAULTS_NOT_RETRIED")
}

func TestTestStateReadsYAML(t *testing.T) {
	t.Parallel()
	path := file(t, "order.asl.yaml", orderYAML)
	stepback(t, "test-state", path, "--state", "Done").complains(t, exit.Usage, path+": give ${Patience}")
	stepback(t, "test-state", path, "--state", "Done", "--substitute", "Patience=30", "--substitute",
		"OrderTable=orders").
		ends(t, exit.OK, "SUCCEEDED", `"table": "orders"`)
	stepback(t, "test-state", path).complains(t, exit.Usage, "--state, one of Reserve, Done")
	stepback(t, "test-state", file(t, "one.yaml", "Type: Pass\nEnd: true\n")).ends(t, exit.OK, "SUCCEEDED")
	stepback(t, "test-state", file(t, "task.json", `{"Type": "Task", "Resource": "${Fn}", "End": true}`), "--mock",
		`{"a": 1}`).ends(t, exit.OK, "SUCCEEDED")
	stepback(t, "test-state", file(t, "two.json", `{"Type": "Pass", "End": true,}`)).complains(t, exit.Data,
		"two.json:1:30: error INVALID_JSON_DESCRIPTION", "remove the comma")
	stepback(t, "test-state", file(t, "three.json", "\xff\xfe{\x00}\x00")).complains(t, exit.Data, "The text is UTF-16")
}

func TestTestStateNamesSomeOfManyStates(t *testing.T) {
	t.Parallel()
	var states strings.Builder
	for range 10 {
		states.WriteString(`"A":{},"B":{},"C":{},`)
	}
	for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		states.WriteString(`"` + name + `":{},`)
	}
	path := file(t, "m.json", `{"StartAt":"A","States":{`+states.String()+`"Z":{}}}`)
	stepback(t, "test-state", path).complains(t, exit.Usage, "with --state, such as A, B, C, a,", " (30 states)")
}

// endless is an endless file such as /dev/zero, or a pipe that is never closed.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

func TestTextWithoutEndIsRefusedBeforeItFillsTheMemory(t *testing.T) {
	t.Parallel()
	machine := filepath.Join(t.TempDir(), "m.asl.json")
	if err := os.WriteFile(machine, []byte(`{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"validate", "-"}, "The definition is longer than 1,048,576 bytes"},
		{[]string{"exec", machine, "--input", "-"}, "--input: standard input is longer than 8 MiB"},
	} {
		in := &endless{}
		var out, problems bytes.Buffer
		code := execute(t.Context(), c.args, terminal.Streams{In: in, Out: &out, Err: &problems, Width: 80})
		if said := out.String() + problems.String(); code == 0 || !strings.Contains(said, c.want) {
			t.Errorf("%q: exit code %d: %s", c.args, code, said)
		}
		if in.read > 64<<20 {
			t.Errorf("%q: %d bytes were read of a text without end", c.args, in.read)
		}
	}
}

// Files that Windows programs write begin with a byte order mark and have CRLF.
func TestFilesOfWindows(t *testing.T) {
	t.Parallel()
	input := file(t, "input.json", "\ufeff{\r\n\"id\": 7\r\n}\r\n")
	values := file(t, "values.json", "\ufeff{\r\n\"Seconds\": 5\r\n}\r\n")
	wait := file(t, "wait.asl.json", "{\"StartAt\": \"A\", \"States\": {\r\n\"A\": {\"Type\": \"Wait\", \"Seconds\": ${Seconds}, \"End\": true}}}\r\n")
	stepback(t, "exec", wait, "--input", "@"+input, "--virtual-time", "--substitute", "@"+values).ends(t, exit.OK, `"id": 7`)
	stepback(t, "test-state", wait, "--state", "A", "--input", "@"+input, "--substitute", "@"+values).
		ends(t, exit.OK, "SUCCEEDED", `"id": 7`)
	table := file(t, "table.json", "\ufeff{\"states\": {\"Charge\": {\"timeout\": \"30s\", \"retry\": [{\"errors\": [\"Busy\"], \"retries\": 0}]}}}\r\n")
	stepback(t, "retries", "show", "--table", table).ends(t, exit.OK, "Charge  (timeout 30s")
	mocks := file(t, "mocks.json", "\ufeff{\"StateMachines\": {\"wait\": {\"TestCases\": {\"Good\": {}}}}, \"MockedResponses\": {}}\r\n")
	stepback(t, "exec", wait, "--virtual-time", "--substitute", "@"+values, "--mock", mocks, "--test-case", "Good").ends(t, exit.OK)
	tests := filepath.Join(filepath.Dir(wait), "wait.test.yaml")
	text := "\ufeff" + `{"definition": "wait.asl.json", "substitutions": {"Seconds": "5"}, "mocks": "` + filepath.ToSlash(mocks) + `", "tests": [
		{"name": "waits", "inputFile": "` + filepath.ToSlash(input) + `", "testCase": "Good", "expect": {"output": {"id": 7}}}]}`
	if err := os.WriteFile(tests, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "test", tests).ends(t, exit.OK, "1 test, 0 failed")
}
