package machinetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"stepback/engine/history"
	"stepback/jsonvalue"
	"stepback/stepbacktest/observed"
)

// Recording is a real execution to be turned into a test.
type Recording struct {
	// Name is the name of the test. Definition is the definition's file, beside which the test will be stored.
	Name, Definition string
	// Events is the history of the execution. Children holds the histories of the child executions of its Map Runs.
	Events   []history.Event
	Children [][]history.Event
}

// Write writes a test file with one test: the execution's input, the responses of its tasks, and its outcome. When
// replayed, the test takes the same path. Responses of a state that ran for several inputs are distinguished by
// input. What the test cannot express is written as comments: an execution that had not ended has no expectations,
// and items that a Map read from a bucket must be supplied as objects.
func (r *Recording) Write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Recorded from the execution %s.\n", r.Name)
	for i := range r.Events {
		if r.Events[i].Type == history.MapRunStarted {
			b.WriteString("# It has a distributed Map: an ItemReader needs its object below a directory that \"objects\" names.\n")
			break
		}
	}
	fmt.Fprintf(&b, "definition: %s\ntests:\n  - name: %s\n", Quoted(r.Definition), Quoted(r.Name))
	var last *history.Event
	for i := range r.Events {
		e := &r.Events[i]
		if e.Type == history.ExecutionStarted {
			fmt.Fprintf(&b, "    input: %s\n", Flow(e.Data))
		}
		last = e
	}
	r.mocks(&b)
	b.WriteString("    expect:\n")
	r.expect(&b, last)
	_, err := w.Write(b.Bytes())
	return err
}

// taken is one attempt of a task that got a response.
type taken struct {
	state, input string
	answer       string
}

// mocks writes the responses by state, in the order in which the attempts were scheduled.
func (r *Recording) mocks(b *bytes.Buffer) {
	byState, order := map[string][]taken{}, []string{}
	for _, events := range append([][]history.Event{r.Events}, r.Children...) {
		for _, t := range attempts(events) {
			if byState[t.state] == nil {
				order = append(order, t.state)
			}
			byState[t.state] = append(byState[t.state], t)
		}
	}
	if len(order) == 0 {
		return
	}
	b.WriteString("    mocks:\n")
	for _, state := range order {
		fmt.Fprintf(b, "      %s:\n", Quoted(state))
		all := byState[state]
		several := slices.ContainsFunc(all, func(t taken) bool { return t.input != all[0].input })
		for i := 0; i < len(all); {
			same := i + 1
			for same < len(all) && all[same] == all[i] {
				same++
			}
			members := []string{all[i].answer}
			if several && all[i].input != "" {
				members = append([]string{"input: " + Flow(all[i].input)}, members...)
			}
			if same > i+1 {
				members = append(members, fmt.Sprintf("times: %d", same-i))
			}
			fmt.Fprintf(b, "        - {%s}\n", strings.Join(members, ", "))
			i = same
		}
	}
}

// attempts returns the attempts that got a response in a history, in the order in which they were scheduled.
func attempts(events []history.Event) []taken {
	var all []taken
	begun := map[int64]int{} // the index of an attempt, by the event that began it
	var r history.AttemptReader
	for i := range events {
		c := r.Read(&events[i])
		if c.Begins {
			begun[c.Attempt.Scheduled.ID] = len(all)
			all = append(all, taken{state: c.Attempt.State, input: c.Attempt.Input})
		}
		if c.Attempt == nil || !c.Attempt.Over() {
			continue
		}
		if at, ok := begun[c.Attempt.Scheduled.ID]; ok {
			all[at].answer = answerOf(c.Attempt)
		}
	}
	return slices.DeleteFunc(all, func(t taken) bool { return t.answer == "" })
}

// answerOf returns the mock response that makes an attempt end in the same way as a.
func answerOf(a *history.Attempt) string {
	switch {
	case !a.Failed():
		return "return: " + Flow(a.Output)
	case a.TimedOut:
		return "hang: true"
	}
	text := "error: " + Quoted(or(a.Failure.Name, "States.TaskFailed"))
	if a.Failure.Cause != "" {
		text += ", cause: " + Quoted(a.Failure.Cause)
	}
	return text
}

// expect writes the outcome of the execution.
func (r *Recording) expect(b *bytes.Buffer, last *history.Event) {
	status := ""
	if last != nil && last.Type.Terminal() {
		status = map[history.Type]string{
			history.ExecutionSucceeded: "SUCCEEDED", history.ExecutionFailed: "FAILED",
			history.ExecutionTimedOut: "TIMED_OUT", history.ExecutionAborted: "ABORTED",
		}[last.Type]
	}
	switch status {
	case "SUCCEEDED":
		fmt.Fprintf(b, "      status: SUCCEEDED\n      output: %s\n", Flow(last.Data))
	case "FAILED", "TIMED_OUT":
		fmt.Fprintf(b, "      status: %s\n", status)
		if last.More != nil && last.More.Failure.Name != "" {
			fmt.Fprintf(b, "      error: %s\n", Quoted(last.More.Failure.Name))
		}
	default: // it had not ended, or was stopped
		b.WriteString("      # The execution had not ended by itself; add the expected outcome here.\n      never: []\n")
	}
	if path := observed.Entered(r.Events); status != "" && len(path) > 0 && !concurrent(r.Events) {
		names := make([]string, len(path))
		for i, name := range path {
			names[i] = Quoted(name)
		}
		fmt.Fprintf(b, "      path: [%s]\n", strings.Join(names, ", "))
	}
}

// concurrent reports whether states ran concurrently, so that their order may differ between runs.
func concurrent(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Type == history.ParallelStateStarted || e.Type == history.MapStateStarted
	})
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Flow returns JSON text as one line of YAML.
func Flow(text string) string {
	v, err := jsonvalue.Parse(text)
	if err != nil {
		return Quoted(text)
	}
	return v.JSON()
}

// Quoted returns a string as JSON, which is also valid YAML.
func Quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string never fails
	return strings.TrimSpace(b.String())
}
