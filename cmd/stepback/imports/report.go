package imports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/csvimport/pipeline"
)

// printReport prints the report of an import in a data directory as text. If file is not empty, messages show it
// instead of the object's address, because it is the name that the user gave.
func printReport(w io.Writer, r *pipeline.Report, data, file string) {
	if r.Earlier {
		fmt.Fprintln(w, "This file was already imported; nothing was done. Use --again to import it once more. The earlier report:")
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s  %s\n", terminal.ScreenOf(w).Status(r.Status), r.Name)
	if r.Error != "" {
		in := ""
		if r.State != "" {
			in = " in " + r.State
		}
		message := messageOf(r.Cause)
		if file != "" {
			message = strings.Replace(message, pipeline.ObjectOf(file), terminal.ShortPath(file), 1)
		}
		fmt.Fprintf(w, "  %s%s: %s\n", r.Error, in, message)
	}
	printRows(w, r)
	printRetries(w, r)
	printTimes(w, r)
	printOutputs(w, r, data)
	if advice := r.Advice(); advice != "" {
		fmt.Fprintf(w, "\n  %s\n", advice)
	}
}

// messageOf returns the message inside a cause as Lambda writes it, or the whole cause if it has none.
func messageOf(cause string) string {
	var lambda struct {
		ErrorMessage string `json:"errorMessage"`
	}
	if json.Unmarshal([]byte(cause), &lambda) == nil && lambda.ErrorMessage != "" {
		return lambda.ErrorMessage
	}
	return cause
}

func printRows(w io.Writer, r *pipeline.Report) {
	if r.Rows == nil {
		return
	}
	fmt.Fprintln(w)
	t := terminal.NewTable("rows", ">count", "")
	t.Add("applied", terminal.Grouped(r.Rows.Applied), "")
	t.Add("already applied", terminal.Grouped(r.Rows.AlreadyApplied), "")
	t.Add("rejected", terminal.Grouped(r.Rows.Rejected), "")
	t.Add("dead-lettered", terminal.Grouped(r.Rows.DeadLettered), "")
	form := ""
	if r.File != nil {
		form = fmt.Sprintf("read as %s, columns separated by %s", r.File.Encoding, r.File.Delimiter)
	}
	t.Add("in the file", terminal.Grouped(r.Rows.Total), form)
	t.Print(w, "  ")
	if r.LeftOut != nil {
		fmt.Fprintf(w, "  left out: %s, because of what was done with their dead letters before:\n",
			terminal.Counted(r.LeftOut.Count, "row"))
		const shown = 10
		for _, row := range r.LeftOut.Rows[:min(len(r.LeftOut.Rows), shown)] {
			fmt.Fprintf(w, "    line %d: %s\n", row.Line, row.Why)
		}
		if more := r.LeftOut.Count - shown; more > 0 {
			fmt.Fprintf(w, "    and %s more\n", terminal.Grouped(more))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Errors)) {
		fmt.Fprintf(w, "    %s × %s\n", terminal.Grouped(r.Errors[name]), name)
	}
}

func printRetries(w io.Writer, r *pipeline.Report) {
	if len(r.Retries) == 0 {
		return
	}
	fmt.Fprintln(w)
	columns := retryColumns(r.Retries)
	headers := []string{"state", "error", "pattern"}
	for _, c := range columns {
		headers = append(headers, ">"+c.name)
	}
	t := terminal.NewTable(append(headers, ">waited")...)
	var interrupted, unfinished int64
	for _, x := range r.Retries {
		cells := []any{x.State, x.Error, cmp.Or(x.Pattern, "not retried")}
		for _, c := range columns {
			cells = append(cells, terminal.Grouped(c.of(x)))
		}
		t.Add(append(cells, rounded(x.Waited))...)
		interrupted += x.Interrupted
		unfinished += x.Unfinished
	}
	t.Print(w, "  ")
	if interrupted+unfinished > 0 {
		fmt.Fprintf(w, "  When the execution ended, %s %s waiting for a retry and %s %s running.\n",
			terminal.Counted(interrupted, "failed attempt"), wasOrWere(interrupted),
			terminal.Counted(unfinished, "retry"), wasOrWere(unfinished))
	}
}

func wasOrWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// retryColumn is one column of the retry table; docs/metrics.md defines each figure.
type retryColumn struct {
	name   string
	always bool // shown even if it is 0 in every line
	of     func(pipeline.Retry) int64
}

// retryColumns returns the columns worth printing. Optional ones that are 0 in every line are left out.
func retryColumns(lines []pipeline.Retry) []retryColumn {
	all := []retryColumn{
		{"failed", true, func(x pipeline.Retry) int64 { return x.Failures }},
		{"retried", true, func(x pipeline.Retry) int64 { return x.Retries }},
		{"not retried", false, func(x pipeline.Retry) int64 { return x.NotRetried }},
		{"exhausted", false, func(x pipeline.Retry) int64 { return x.Exhausted }},
		{"recovered", true, func(x pipeline.Retry) int64 { return x.Recovered }},
		{"failed again", false, func(x pipeline.Retry) int64 { return x.FailedAgain }},
	}
	return slices.DeleteFunc(all, func(c retryColumn) bool {
		return !c.always && !slices.ContainsFunc(lines, func(x pipeline.Retry) bool { return c.of(x) != 0 })
	})
}

func printTimes(w io.Writer, r *pipeline.Report) {
	fmt.Fprintln(w)
	fmt.Fprintf(w, "  %s, %s of which failed; the run took %s\n", terminal.Counted(r.Attempts, "attempt"), terminal.Grouped(r.Failed),
		rounded(r.Elapsed))
	if r.Waited > 0 {
		fmt.Fprintf(w, "  Retries waited %s in total; the waits of concurrent rows are added up.\n",
			rounded(r.Waited))
	}
}

func printOutputs(w io.Writer, r *pipeline.Report, data string) {
	fmt.Fprintln(w)
	t := terminal.NewTable("output", "where")
	for _, o := range [][2]string{
		{"summary", r.Outputs.Summary}, {"dead letters", r.Outputs.DeadLetters}, {"corrections", r.Outputs.Corrections},
		{"notifications", r.Outputs.Notifications}, {"database", r.Outputs.Database},
	} {
		if o[1] != "" {
			t.Add(o[0], terminal.ShortPath(o[1]))
		}
	}
	t.Print(w, "  ")
	flag := ""
	if dir := terminal.ShortPath(data); dir != workspace.DefaultData {
		flag = " --data " + terminal.Quoted(dir)
	}
	printCommands(w, r, flag)
}

// printCommands prints the commands with which the user can continue. For each, it prints what the command does,
// and below it the command on a separate line, ready to paste.
func printCommands(w io.Writer, r *pipeline.Report, flag string) {
	command := func(what, line string) { fmt.Fprintf(w, "\n  %s:\n    stepback %s%s\n", what, line, flag) }
	command("the events of the execution", "history "+r.Name)
	switch {
	case r.Failed > 0:
		command("its child executions with failed attempts", "history "+r.Name+" --children --failed")
	case r.Rows != nil:
		command("its child executions, which have the rows", "history "+r.Name+" --children")
	}
	if d := r.DeadLetter; d != nil {
		command(fmt.Sprintf("the events of a dead letter, line %d (%s)", d.Line, d.Error),
			fmt.Sprintf("history %s --row %d", r.Name, d.Row))
	}
	if r.Outputs.Corrections != "" && r.Rows != nil && r.Rows.Rejected+r.Rows.DeadLettered > 0 {
		const all = " --tolerated-failure-percentage 100" // most of these rows may fail again, and that is no reason to stop
		command("import the corrected rows",
			"run --csv "+terminal.Quoted(terminal.ShortPath(r.Outputs.Corrections))+all)
	}
}

// rounded formats a duration, rounded for display.
func rounded(s pipeline.Seconds) string {
	d := time.Duration(s)
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
