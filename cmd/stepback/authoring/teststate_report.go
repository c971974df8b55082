package authoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/jsonvalue"
)

// stateTest is the TestState response.
type stateTest struct {
	Status     string                     `json:"status"`
	Output     *string                    `json:"output"`
	Error      string                     `json:"error"`
	Cause      string                     `json:"cause"`
	Next       string                     `json:"nextState"`
	Inspection map[string]json.RawMessage `json:"inspectionData"`
}

// stateStages lists the members of inspectionData in the order of a state's data flow.
var stateStages = []string{
	"input", "afterInputPath", "afterParameters", "afterArguments", "afterItemsPath", "afterItemsPointer",
	"afterItemSelector",
	"afterItemBatcher", "maxConcurrency", "toleratedFailureCount", "toleratedFailurePercentage", "request", "response",
	"result",
	"afterResultSelector", "afterResultPath", "variables",
}

// show prints a response. The returned error carries the exit status.
func (c *TestState) show(std terminal.Streams, answer []byte) error {
	var t stateTest
	if err := json.Unmarshal(answer, &t); err != nil {
		return err
	}
	if c.JSON {
		var b bytes.Buffer
		if err := json.Indent(&b, answer, "", "  "); err != nil {
			return err
		}
		fmt.Fprintln(std.Out, b.String())
	} else {
		t.print(std.Out)
	}
	if t.Status == "FAILED" || t.Status == "RETRIABLE" {
		return exit.With(exit.Failure, nil)
	}
	return nil
}

func (t *stateTest) print(w io.Writer) {
	fmt.Fprint(w, terminal.ScreenOf(w).Status(t.Status))
	if t.Next != "" {
		fmt.Fprintf(w, ", next state %s", t.Next)
	}
	fmt.Fprintln(w)
	if t.Error != "" {
		section(w, "error", t.Error)
	}
	if t.Cause != "" {
		section(w, "cause", t.Cause)
	}
	t.printHandler(w)
	stages := slices.Clone(stateStages)
	for _, name := range slices.Sorted(maps.Keys(t.Inspection)) {
		if name != "errorDetails" && !slices.Contains(stages, name) {
			stages = append(stages, name)
		}
	}
	for _, name := range stages {
		if data, ok := t.Inspection[name]; ok {
			section(w, name, string(data))
		}
	}
	if t.Output != nil {
		section(w, "output", *t.Output)
	}
}

// printHandler prints which retrier or catcher handles the error.
func (t *stateTest) printHandler(w io.Writer) {
	var d struct {
		Catch   *int     `json:"catchIndex"`
		Retry   *int     `json:"retryIndex"`
		Backoff *float64 `json:"retryBackoffIntervalSeconds"`
	}
	if json.Unmarshal(t.Inspection["errorDetails"], &d) != nil {
		return
	}
	switch {
	case d.Catch != nil:
		section(w, "handled by", fmt.Sprintf("Catch[%d]", *d.Catch))
	case d.Retry != nil && d.Backoff != nil:
		section(w, "handled by", fmt.Sprintf("Retry[%d], again after %s s", *d.Retry, strconv.FormatFloat(*d.Backoff,
			'f', -1, 64)))
	case d.Retry != nil:
		section(w, "handled by", fmt.Sprintf("Retry[%d], which has no attempts left", *d.Retry))
	}
}

// section prints a name and an indented value. Objects and arrays, including those inside a JSON string, are printed
// on several lines.
func section(w io.Writer, name, value string) {
	if v, err := jsonvalue.Parse(value); err == nil && v.Kind() == jsonvalue.String {
		if inner, err := jsonvalue.Parse(v.Text()); err == nil {
			value = inner.JSON()
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(value), "", "  ") == nil {
		value = b.String()
	}
	if !strings.Contains(value, "\n") {
		fmt.Fprintf(w, "  %s: %s\n", name, value)
		return
	}
	fmt.Fprintf(w, "  %s:\n    %s\n", name, strings.ReplaceAll(value, "\n", "\n    "))
}
