package serve

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/cmd/stepback/rerun"
	"stepback/cmd/stepback/workspace"
	"stepback/local"
)

const (
	sound  = `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	faulty = "{\"StartAt\": \"P\",\n \"States\": {\n  \"P\": {\"Type\": \"Pass\", \"Nxt\": \"Q\"}}}"
)

// watching returns a watcher of a directory, over a service in memory, and its output.
func watching(t *testing.T, dir string) (*watcher, *strings.Builder) {
	t.Helper()
	p, err := local.Open(t.Context(), local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	out := &strings.Builder{}
	return &watcher{dir: dir, role: "arn:aws:iam::000000000000:role/stepback", states: workspace.StatesClient(p), out: out, seen: map[string]rerun.Stamp{}}, out
}

func TestWatchFollowsItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, out := watching(t, dir)
	path := filepath.Join(dir, "my order.asl.json")
	modified := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	put := func(text string) {
		modified = modified.Add(time.Second)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:my-order"
	other := strings.Replace(sound, "Pass", "Succeed", 1)
	other = strings.Replace(other, `,"End":true`, "", 1)
	for _, step := range []struct {
		do         func(string)
		text, want string
		kept       string
	}{
		{put, sound, path + ": state machine my-order: ready, " + arn + "\n", sound},
		{func(string) {}, "", "", sound},
		{put, faulty, path + ":3:3: error SCHEMA_VALIDATION_FAILED: This object should have only one of the following fields: [Next, End] (at /States/P)\n  3 |", sound},
		{func(string) {}, "", "", sound},
		{put, other, path + ": state machine my-order: updated, " + arn + "\n", other},
		{remove, "", "", other},
		{put, other, path + ": state machine my-order: ready, " + arn + "\n", other},
	} {
		out.Reset()
		step.do(step.text)
		if err := w.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.HasPrefix(got, step.want) || step.want == "" && got != "" {
			t.Errorf("printed %q, want %q", got, step.want)
		}
		name := arn
		m, err := w.states.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: &name})
		if err != nil || *m.Definition != step.kept {
			t.Errorf("%v, %v", m, err)
		}
	}
}

func TestWatchNamesFilesThatCollide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, out := watching(t, dir)
	for _, name := range []string{"a b.asl.json", "a-b.asl.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(sound), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "a-b.asl.json") + ": ignored, because " + filepath.Join(dir, "a b.asl.json") +
		" already defines the state machine a-b\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("printed %q", out.String())
	}
}

func TestWatchEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	p, err := local.Open(t.Context(), local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	stop, err := watch(t.Context(), t.TempDir(), nil, p, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	stop()
}

func TestWatchTakesYAML(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, out := watching(t, dir)
	w.values = map[string]string{"OrderTable": "orders"}
	path := filepath.Join(dir, "order.asl.yaml")
	const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:order"
	for _, step := range []struct{ text, want string }{
		{watchedYAML, "stepback: " + path +
			": give ${Patience} a value with --substitute NAME=VALUE\n" +
			path + ": the state machine order was not changed\n"},
		{strings.Replace(watchedYAML, "${Patience}", "10", 1), path + ": state machine order: ready, " + arn + "\n"},
	} {
		out.Reset()
		if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out.String() != step.want {
			t.Errorf("printed %q, want %q", out.String(), step.want)
		}
	}
	name := arn
	m, err := w.states.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: &name})
	if err != nil || !strings.Contains(*m.Definition, `{"table":"orders"}`) || !strings.Contains(*m.Definition,
		":function:ReserveFunction") {
		t.Errorf("%v, %v", m, err)
	}
}

// watchedYAML is a definition in YAML, which needs a value for Patience.
const watchedYAML = `StartAt: Reserve
States:
  Reserve:
    Type: Task
    Resource: ${ReserveFunction.Arn}
    TimeoutSeconds: ${Patience}
    Next: Done
  Done:
    Type: Pass
    Result:
      table: ${OrderTable}
    End: yes
`
