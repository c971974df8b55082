package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/timeline"
	"stepback/jsonvalue"
	"stepback/local/services/lambda/runtimes"
	"stepback/stepbacktest/machinetest"
)

// Recording is an execution of a durable function from which a test is written.
type Recording struct {
	// Name is the name of the test. Handler is the function's Handler, and Runtime its runtime; empty means the default
	// for the handler's file. Code is the directory with the code, relative to the test file; empty means its own.
	Name, Handler, Runtime, Code string
	// Events is the history of the execution, with its data.
	Events []history.Event
}

// Testable reports whether the steps of functions of a runtime can be replaced.
func Testable(runtime string) bool {
	return runtimes.Known(runtime) && (IsNode(runtime) || IsPython(runtime))
}

// IsNode reports whether functions of a runtime are in JavaScript.
func IsNode(runtime string) bool { return strings.HasPrefix(runtime, "nodejs") }

// IsPython reports whether functions of a runtime are in Python.
func IsPython(runtime string) bool { return strings.HasPrefix(runtime, "python3.") }

// ErrNoData is returned by Recording.Write for a history without inputs and results.
var ErrNoData = errors.New("the history has no inputs and results: read it with --include-execution-data")

// Write writes a test file: the input, the response of each attempt of each step, callback and chained invoke, and the
// outcome of the execution. Names, errors and results are those of the execution. A comment notes operations that no
// response can stand for, because they have no name or a result that is no JSON. The error is ErrNoData, or that of w.
func (r *Recording) Write(w io.Writer) error {
	if len(r.Events) == 0 || r.Events[0].Type != history.ExecutionStarted {
		return errors.New("the history does not begin with ExecutionStarted: pass all events of the execution")
	}
	for i := range r.Events[1:] {
		if e := &r.Events[i+1]; e.ID != r.Events[i].ID+1 {
			return fmt.Errorf("the history has event %d after event %d: pass all events of the execution, in their order",
				e.ID, r.Events[i].ID)
		}
	}
	first, err := durable.DetailsOf(&r.Events[0])
	if err != nil {
		return err
	}
	if first.Payload == nil {
		return ErrNoData
	}
	all := Operations(r.Events)
	last := &r.Events[len(r.Events)-1]
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Recorded from the durable execution %s.\n", r.Name)
	members := []string{"handler: " + machinetest.Quoted(r.Handler)}
	if r.Code != "" {
		members = append(members, "code: "+machinetest.Quoted(r.Code))
	}
	if r.Runtime != "" && Testable(r.Runtime) {
		members = append(members, "runtime: "+r.Runtime)
	}
	if last.Type == history.ExecutionTimedOut {
		members = append(members, "executionTimeout: "+durationText(first.Timeout))
	}
	fmt.Fprintf(&b, "function: {%s}\ntests:\n  - name: %s\n    input: %s\n", strings.Join(members, ", "),
		machinetest.Quoted(r.Name), machinetest.Flow(*first.Payload))
	r.mocks(&b, all)
	b.WriteString("    expect:\n")
	r.expect(&b, all, last)
	_, err = w.Write(b.Bytes())
	return err
}

// recorded collects the responses of the operations with a name.
type recorded struct {
	name      string
	responses []answered
}

// answered is a response, and the innermost named context of its operation.
type answered struct{ in, text string }

// mocks writes the responses, by name.
func (r *Recording) mocks(b *bytes.Buffer, all []*Operation) {
	var list []*recorded
	var notes []string
	for _, o := range all {
		answers, note := r.answers(o)
		if note != "" {
			notes = append(notes, note)
		}
		if len(answers) == 0 {
			continue
		}
		i := slices.IndexFunc(list, func(x *recorded) bool { return x.name == o.Name })
		if i < 0 {
			i = len(list)
			list = append(list, &recorded{name: o.Name})
		}
		in := ""
		if len(o.Within) > 0 {
			in = o.Within[len(o.Within)-1]
		}
		for _, text := range answers {
			list[i].responses = append(list[i].responses, answered{in, text})
		}
	}
	for _, note := range notes {
		fmt.Fprintf(b, "    # %s\n", note)
	}
	if len(list) == 0 {
		return
	}
	b.WriteString("    mocks:\n")
	for _, x := range list {
		fmt.Fprintf(b, "      %s:\n", machinetest.Quoted(x.name))
		x.write(b)
	}
}

// write writes the responses, equal ones that follow each other as one.
func (x *recorded) write(b *bytes.Buffer) {
	all := x.responses
	several := slices.ContainsFunc(all, func(a answered) bool { return a.in != all[0].in })
	for i := 0; i < len(all); {
		same := i + 1
		for same < len(all) && all[same] == all[i] {
			same++
		}
		text := all[i].text
		if several && all[i].in != "" {
			text = "in: " + machinetest.Quoted(all[i].in) + ", " + text
		}
		if same > i+1 {
			text += fmt.Sprintf(", times: %d", same-i)
		}
		fmt.Fprintf(b, "        - {%s}\n", text)
		i = same
	}
}

// answers returns the responses of an operation, one for each attempt. note says why it has none although it needs one,
// or what the test does instead.
func (r *Recording) answers(o *Operation) (all []string, note string) {
	switch o.Kind {
	case Context, Wait:
		return nil, ""
	case Submitter:
		if !slices.ContainsFunc(o.Attempts, func(a timeline.Attempt) bool { return a.Outcome.Bad() }) {
			return nil, "" // it does not run, because its callback has a response
		}
	case Callback, Invoke:
		if o.Name == "" {
			return nil, fmt.Sprintf("The %s %s has no name: give it one in the function, and a response here.", o.Kind, o.Operation)
		}
		return r.ended(o)
	case Step, Condition:
	}
	if o.Name == "" {
		return nil, fmt.Sprintf("The %s %s has no name, so it runs its own body.", o.Kind, o.Operation)
	}
	for i := range o.Attempts {
		a := &o.Attempts[i]
		d, err := durable.DetailsOf(r.event(a.Last))
		switch {
		case err != nil || a.Ended.IsZero():
			continue
		case a.Outcome == timeline.Aborted:
			all = append(all, "crash: true")
		case d.Error != nil:
			all = append(all, errorOf(d.Error))
		default:
			text, ok := returned(d.Payload)
			if !ok {
				return nil, fmt.Sprintf("A result of the %s %s is no JSON, so it runs its own body.", o.Kind, o.Name)
			}
			all = append(all, text)
		}
	}
	return all, ""
}

// ended returns the response of a callback or a chained invoke.
func (r *Recording) ended(o *Operation) (all []string, note string) {
	if o.Exit == 0 {
		return r.open(o)
	}
	d, err := durable.DetailsOf(r.event(o.Exit))
	if err != nil {
		return nil, ""
	}
	end := r.event(o.Exit).Type
	var text string
	ok := true
	switch {
	case end == history.DurableCallbackTimedOut:
		return []string{"hang: true"}, ""
	case d.Error != nil:
		text = errorOf(d.Error)
	case end != history.DurableCallbackSucceeded && end != history.DurableInvokeSucceeded:
		text = "error: " + machinetest.Quoted(end.String())
	default:
		text, ok = returned(d.Payload)
	}
	switch {
	case !ok && o.Kind == Callback:
		text = "text: " + machinetest.Quoted(*d.Payload)
	case !ok:
		return nil, fmt.Sprintf("The result of the invoke %s is no JSON: add a response here.", o.Name)
	}
	if after := o.Left.Sub(o.Entered).Truncate(time.Second); after > 0 {
		text += ", after: " + durationText(after)
	}
	return []string{text}, ""
}

// open returns the response of a callback or a chained invoke that had not ended.
func (r *Recording) open(o *Operation) (all []string, note string) {
	d, err := durable.DetailsOf(r.event(o.Entry))
	if err == nil && o.Kind == Callback && d.Timeout+d.Heartbeat > 0 {
		return []string{"hang: true"}, ""
	}
	return nil, fmt.Sprintf("The %s %s had not ended: add its response here.", o.Kind, o.Name)
}

// event returns the event with an ID.
func (r *Recording) event(id int64) *history.Event { return &r.Events[id-r.Events[0].ID] }

// returned returns the result of an operation as a member of a response; ok is false if it is no JSON.
func returned(payload *string) (text string, ok bool) {
	if payload == nil || *payload == "" {
		return "return: null", true
	}
	v, err := jsonvalue.Parse(*payload)
	if err != nil {
		return "", false
	}
	return "return: " + v.JSON(), true
}

// errorOf returns the failure of an operation as members of a response.
func errorOf(e *durable.Error) string {
	name := "Error"
	if e.ErrorType != nil && *e.ErrorType != "" {
		name = *e.ErrorType
	}
	text := "error: " + machinetest.Quoted(name)
	if e.ErrorMessage != nil && *e.ErrorMessage != "" {
		text += ", cause: " + machinetest.Quoted(*e.ErrorMessage)
	}
	return text
}

// durationText returns a duration without parts that are zero at its end.
func durationText(d time.Duration) string {
	text := d.String()
	if s, ok := strings.CutSuffix(text, "m0s"); ok {
		text = s + "m"
	}
	if s, ok := strings.CutSuffix(text, "h0m"); ok {
		text = s + "h"
	}
	return text
}

// expect writes the outcome: the status with its result or error, the path if nothing ran concurrently, and the number
// of attempts of what was retried. Delays between attempts are left out, because they depend on the seed.
func (r *Recording) expect(b *bytes.Buffer, all []*Operation, last *history.Event) {
	d, err := durable.DetailsOf(last)
	if err != nil {
		d = new(durable.Details)
	}
	switch last.Type {
	case history.ExecutionSucceeded:
		b.WriteString("      status: SUCCEEDED\n")
		if d.Payload != nil {
			if v, err := jsonvalue.Parse(*d.Payload); err == nil {
				fmt.Fprintf(b, "      output: %s\n", v.JSON())
			}
		}
	case history.ExecutionFailed, history.ExecutionTimedOut:
		status := "FAILED"
		if last.Type == history.ExecutionTimedOut {
			status = "TIMED_OUT"
		}
		fmt.Fprintf(b, "      status: %s\n", status)
		if d.Error != nil && d.Error.ErrorType != nil {
			fmt.Fprintf(b, "      error: %s\n", machinetest.Quoted(*d.Error.ErrorType))
		}
	default:
		b.WriteString("      # The execution had not ended by itself; add the expected outcome here.\n      never: []\n")
		return
	}
	if path := Path(all); len(path) > 0 && !concurrent(all) {
		for i, name := range path {
			path[i] = machinetest.Quoted(name)
		}
		fmt.Fprintf(b, "      path: [%s]\n", strings.Join(path, ", "))
	}
	var attempts []string
	seen := map[string]bool{}
	for _, o := range all {
		if len(o.Attempts) > 1 && o.Name != "" && !seen[o.Name] {
			seen[o.Name] = true
			attempts = append(attempts, fmt.Sprintf("%s: %d", machinetest.Quoted(o.Name), Attempts(all, o.Name)))
		}
	}
	if len(attempts) > 0 {
		fmt.Fprintf(b, "      attempts: {%s}\n", strings.Join(attempts, ", "))
	}
}

// concurrent reports whether operations ran at the same time, so that their order may differ in another run.
func concurrent(all []*Operation) bool {
	for i, o := range all {
		for _, later := range all[i+1:] {
			if o.Kind != Context && later.Kind != Context && (o.Exit == 0 || later.Entry < o.Exit) &&
				(o.Parent == nil || o.Parent != later.Parent || o.Parent.SubType != waitForCallback) {
				return true
			}
		}
	}
	return false
}
