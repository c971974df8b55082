// Package tablefile reads retry tables of one's own from YAML: patterns by name, and for each state which errors are
// retried by which. The table compiles to the Retry blocks of any state machine.
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
// The table's own patterns (retries show) can be used by their names, too. Unknown members and values out of their
// bounds are refused with line and column. The package reads no files.
package tablefile

import (
	"strings"
	"time"

	"stepback/internal/spelling"
	"stepback/retrylab/strictyaml"
	"stepback/retrypatterns"
)

// The bounds of AWS, and of texts.
const (
	longestInterval = 99_999_999 * time.Second
	longestDelay    = 31_622_400 * time.Second
	mostRetries     = 99_999_999
	steepest        = 1e6
	mostRows        = 1000
	longestText     = 256
)

// Read reads a table. The error is strictyaml's Problems, with line and column, or that of Table.Validate.
func Read(name string, text []byte) (retrypatterns.Table, error) {
	r, v := strictyaml.Read(name, text)
	o := v.Object("patterns", "states")
	patterns := map[string]retrypatterns.Policy{}
	for _, p := range retrypatterns.Patterns() {
		patterns[string(p.Name)] = p.Policy
	}
	for _, m := range o.Get("patterns").Members() {
		patterns[m.Name] = policy(m.Object(policyMembers...))
	}
	var t retrypatterns.Table
	for _, m := range o.Need("states").Members() {
		state := m.Object("timeout", "heartbeat", "retry")
		s := retrypatterns.StateRetries{
			State: m.Name, Timeout: state.Need("timeout").Duration(time.Second, longestInterval),
			Heartbeat: state.Get("heartbeat").DurationOr(0, time.Second, longestInterval),
		}
		for _, row := range state.Need("retry").List(1, mostRows) {
			s.Rows = append(s.Rows, rowOf(row, patterns))
		}
		t.States = append(t.States, s)
	}
	if err := r.Err(); err != nil {
		return retrypatterns.Table{}, err
	}
	return t, t.Validate()
}

var policyMembers = []string{"interval", "rate", "maxDelay", "retries", "jitter"}

// policy reads numbers; what is absent is as in a definition: 1 second, twice as long each time, three times.
func policy(o strictyaml.Object) retrypatterns.Policy {
	p := retrypatterns.Policy{
		Interval: o.Get("interval").DurationOr(time.Second, time.Second, longestInterval),
		Rate:     o.Get("rate").NumberOr(2, 1, steepest), MaxDelay: o.Get("maxDelay").DurationOr(0, time.Second, longestDelay),
		MaxAttempts: o.Get("retries").WholeOr(3, 0, mostRetries),
		Jitter:      retrypatterns.Jitter(o.Get("jitter").OneOf("NONE", "FULL")),
	}
	if p.MaxAttempts == 0 {
		return retrypatterns.Policy{}
	}
	return p
}

// rowOf reads one row: errors with a pattern, or with numbers.
func rowOf(v strictyaml.Value, patterns map[string]retrypatterns.Policy) retrypatterns.Row {
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
