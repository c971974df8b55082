package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stepback/pipeline"
)

// printReport prints a report for people.
func printReport(w io.Writer, r *pipeline.Report) {
	if r.Earlier {
		fmt.Fprintln(w, "This file was imported before; nothing was done. The earlier report (--again imports it once more):")
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s  %s\n", r.Status, r.Name)
	if r.Error != "" {
		in := ""
		if r.State != "" {
			in = " in " + r.State
		}
		fmt.Fprintf(w, "  %s%s: %s\n", r.Error, in, messageOf(r.Cause))
	}
	printRows(w, r)
	printRetries(w, r)
	printTimes(w, r)
	printOutputs(w, r)
	if advice := r.Advice(); advice != "" {
		fmt.Fprintf(w, "\n  %s\n", advice)
	}
}

// messageOf is the message inside a cause as Lambda writes it, or the cause.
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
	t := newTable("rows", ">count", "")
	t.add("applied", grouped(r.Rows.Applied), "")
	t.add("already applied", grouped(r.Rows.AlreadyApplied), "")
	t.add("rejected", grouped(r.Rows.Rejected), "")
	t.add("dead-lettered", grouped(r.Rows.DeadLettered), "")
	t.add("in the file", grouped(r.Rows.Total), "")
	t.print(w, "  ")
	for _, name := range slices.Sorted(maps.Keys(r.Errors)) {
		fmt.Fprintf(w, "    %s × %s\n", grouped(r.Errors[name]), name)
	}
}

func printRetries(w io.Writer, r *pipeline.Report) {
	if len(r.Retries) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := newTable("state", "error", "pattern", ">failed", ">retried", ">recovered", ">exhausted", ">waited")
	for _, x := range r.Retries {
		t.add(x.State, x.Error, cmp.Or(x.Pattern, "not retried"), grouped(x.Failures), grouped(x.Retries),
			grouped(x.Recovered),
			grouped(x.Exhausted), rounded(x.Waited))
	}
	t.print(w, "  ")
}

func printTimes(w io.Writer, r *pipeline.Report) {
	fmt.Fprintln(w)
	fmt.Fprintf(w, "  %s attempts worked for %s and waited %s before retries, all children together; the run took %s\n",
		grouped(r.Attempts), rounded(r.Worked), rounded(r.Waited), rounded(r.Elapsed))
}

func printOutputs(w io.Writer, r *pipeline.Report) {
	fmt.Fprintln(w)
	t := newTable("output", "where")
	for _, o := range [][2]string{
		{"summary", r.Outputs.Summary}, {"dead letters", r.Outputs.DeadLetters}, {"corrections", r.Outputs.Corrections},
		{"notifications", r.Outputs.Notifications}, {"database", r.Outputs.Database},
	} {
		if o[1] != "" {
			t.add(o[0], shortPath(o[1]))
		}
	}
	t.print(w, "  ")
	fmt.Fprintf(w, "\n  stepback history %s shows every event\n", r.Name)
}

// rounded writes a duration for people.
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

const sqliteScheme = "sqlite:"

// shortPath writes a path, or the address of an SQLite database, under the working directory relative to it.
func shortPath(path string) string {
	file, isDatabase := strings.CutPrefix(path, sqliteScheme)
	dir, err := os.Getwd()
	if err != nil || !filepath.IsAbs(file) {
		return path
	}
	rel, err := filepath.Rel(dir, file)
	switch {
	case err != nil || !filepath.IsLocal(rel):
		return path
	case isDatabase:
		return sqliteScheme + rel
	default:
		return rel
	}
}
