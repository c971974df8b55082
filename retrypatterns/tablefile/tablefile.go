// Package tablefile parses custom retry tables from YAML: named patterns, and for each state the errors and the
// patterns by which they are retried. The table compiles to the Retry blocks of any state machine.
//
//	patterns:
//	  gentle: {interval: 2s, rate: 2, maxDelay: 60s, retries: 5, jitter: FULL}
//	states:
//	  Charge:
//	    timeout: 30s
//	    retry:
//	      - {errors: [CardDeclined], retries: 0}
//	      - {errors: [CardServiceBusy, Lambda.ServiceException], pattern: gentle}
//	      - {errors: [States.Timeout], interval: 5s, retries: 1}
//
// The built-in table's patterns (retries show) can be used by name, too. Unknown members, values out of range and
// rows that Step Functions would reject are reported with line and column. The package reads no files.
package tablefile

import (
	"errors"
	"strings"
	"time"

	"stepback/internal/spelling"
	"stepback/internal/strictyaml"
	"stepback/retry"
	"stepback/retrypatterns"
)

// The limits of AWS, and the maximum lengths of texts and lists.
const (
	longestInterval = 99_999_999 * time.Second
	longestDelay    = 31_622_400 * time.Second
	mostRetries     = 99_999_999
	steepest        = 1e6
	mostRows        = 1000
	longestText     = 256
)

// Looks reports whether a text may be a retry table: it has a member of a table and none of a definition.
func Looks(text []byte) bool {
	_, v := strictyaml.Read("", text)
	if !v.IsObject() {
		return false
	}
	table := false
	for _, m := range v.Members() {
		switch m.Name {
		case "StartAt", "States":
			return false
		case "patterns", "states":
			// In a table, a state with this name would be a list: its Retry array.
			table = table || !m.IsList()
		}
	}
	return table
}

// Read parses a table. The error is strictyaml.Problems, with line and column.
func Read(name string, text []byte) (retrypatterns.Table, error) {
	r, v := strictyaml.Read(name, text)
	o := v.Object("patterns", "states")
	patterns := map[string]retry.Policy{}
	for _, p := range retrypatterns.Patterns() {
		patterns[string(p.Name)] = p.Policy
	}
	for _, m := range o.Get("patterns").Members() {
		patterns[m.Name] = policy(m.Object(policyMembers...))
	}
	var t retrypatterns.Table
	places := map[string]place{}
	for _, m := range o.Need("states").Members() {
		state := m.Object("timeout", "heartbeat", "retry")
		s := retrypatterns.StateRetries{
			State: m.Name, Timeout: state.Need("timeout").Duration(time.Second, longestInterval),
			Heartbeat: state.Get("heartbeat").DurationOr(0, time.Second, longestInterval),
		}
		rows := state.Need("retry").List(1, mostRows)
		for _, row := range rows {
			s.Rows = append(s.Rows, rowOf(row, patterns))
		}
		t.States = append(t.States, s)
		places[m.Name] = place{state, rows}
	}
	if err := r.Err(); err != nil {
		return retrypatterns.Table{}, err
	}
	if err := t.Validate(); err != nil {
		locate(err, places)
		if placed := r.Err(); placed != nil {
			err = placed
		}
		return retrypatterns.Table{}, err
	}
	return t, nil
}

// place holds the positions of a state and its rows in the text.
type place struct {
	state strictyaml.Object
	rows  []strictyaml.Value
}

// members maps ASL field names to the table's member names.
var members = map[string]string{
	"TimeoutSeconds": "timeout", "HeartbeatSeconds": "heartbeat", "ErrorEquals": "errors", "IntervalSeconds": "interval",
	"BackoffRate": "rate", "MaxDelaySeconds": "maxDelay", "MaxAttempts": "retries", "JitterStrategy": "jitter",
}

// locate reports the errors of Table.Validate at their positions in the text.
func locate(err error, places map[string]place) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			locate(e, places)
		}
		return
	}
	var row *retrypatterns.RowError
	if !errors.As(err, &row) {
		return
	}
	p, ok := places[row.State]
	if !ok {
		return
	}
	at, name := p.state, members[row.Field]
	if row.Row > 0 {
		at = p.rows[row.Row-1].Object(append([]string{"errors", "pattern", "comment"}, policyMembers...)...)
	}
	value := at.Get(name)
	if !value.Present() {
		value = at.Value
	}
	want := row.Want
	for field, name := range members {
		want = strings.ReplaceAll(want, field, name)
	}
	value.Problem("%s is %s; write %s", name, row.Value, want)
}

var policyMembers = []string{"interval", "rate", "maxDelay", "retries", "jitter"}

// policy parses a policy's numbers. As in a definition, the defaults are an interval of 1 second, doubled each
// time, and three retries.
func policy(o strictyaml.Object) retry.Policy {
	p := retry.Policy{
		Interval: o.Get("interval").DurationOr(time.Second, time.Second, longestInterval),
		Rate:     o.Get("rate").NumberOr(2, 1, steepest), MaxDelay: o.Get("maxDelay").DurationOr(0, time.Second, longestDelay),
		MaxAttempts: o.Get("retries").WholeOr(3, 0, mostRetries),
		Jitter:      retry.Jitter(o.Get("jitter").OneOf("NONE", "FULL")),
	}
	if p.MaxAttempts == 0 {
		return retry.Policy{}
	}
	return p
}

// rowOf parses one row, which consists of errors and either a pattern or numbers.
func rowOf(v strictyaml.Value, patterns map[string]retry.Policy) retrypatterns.Row {
	o := v.Object(append([]string{"errors", "pattern", "comment"}, policyMembers...)...)
	row := retrypatterns.Row{Provenance: "table"}
	for _, e := range o.Need("errors").List(1, mostRows) {
		row.Errors = append(row.Errors, e.Text(longestText))
	}
	if c := o.Get("comment"); c.Present() {
		row.Comment = c.Text(longestText)
	}
	named := o.Get("pattern")
	if !named.Present() {
		row.Policy = policy(o)
		return row
	}
	for _, member := range policyMembers {
		if own := o.Get(member); own.Present() {
			own.Problem("the pattern says this already; leave the pattern out to give numbers")
		}
	}
	name := named.Text(longestText)
	p, ok := patterns[name]
	if !ok {
		names := make([]string, 0, len(patterns))
		for n := range patterns {
			names = append(names, n)
		}
		meant := ""
		if near := spelling.Nearest(name, names); near != "" {
			meant = "; did you mean " + near + "?"
		}
		named.Problem("there is no pattern %s%s", strings.TrimSpace(name), meant)
	}
	row.Policy = p
	return row
}
