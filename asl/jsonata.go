package asl

import (
	"strings"

	"stepback/jsonvalue"
)

// statesParts are the parts of $states that only some fields may read.
type statesParts uint8

const (
	readsResult      statesParts = 1 << iota // $states.result
	readsErrorOutput                         // $states.errorOutput
)

// resultOf returns the parts of $states that Output and Assign of a state type may read.
func resultOf(t Type) statesParts {
	switch t {
	case Task, Parallel, Map:
		return readsResult
	default:
		return 0
	}
}

// expression returns the text between {% and %}. opened reports whether s starts like an expression.
func expression(s string) (body string, opened bool) {
	body, opened = strings.CutPrefix(s, "{%")
	return strings.TrimSuffix(body, "%}"), opened
}

// expressions checks all JSONata expressions in the value at the current path.
func (d *decoder) expressions(v jsonvalue.Value, readable statesParts) {
	switch v.Kind() {
	case jsonvalue.Object:
		for i, key := range v.Keys() {
			d.enter(key)
			d.expressions(v.At(i), readable)
			d.leave()
		}
	case jsonvalue.Array:
		for i, e := range v.Elements() {
			d.enterElement(i)
			d.expressions(e, readable)
			d.leave()
		}
	case jsonvalue.String:
		if body, opened := expression(v.Text()); opened {
			d.expression(v.Text(), body, readable)
		}
	default: // numbers, booleans and null contain no text
	}
}

func (d *decoder) expression(whole, body string, readable statesParts) {
	if len(whole) < len("{%%}") || !strings.HasSuffix(whole, "%}") {
		d.fail("JSONata string must start with {%% and end with %%}").hint("nothing may follow the closing %}")
		return
	}
	if d.options.Syntax.JSONata != nil {
		reads, err := d.options.Syntax.JSONata(body)
		if err != nil {
			d.report(SeverityError, InvalidJSONataExpression, err.Error())
			return
		}
		d.noDocument(reads)
	}
	if readable&readsResult == 0 && reads(body, "$states.result") {
		d.unreadable("$states.result", "Output and Assign of Task, Parallel and Map states")
	}
	if readable&readsErrorOutput == 0 && reads(body, "$states.errorOutput") {
		d.unreadable("$states.errorOutput", "Output and Assign of catchers")
	}
}

// noDocument reports references to the input document. JSONata usually has one, but states do not.
func (d *decoder) noDocument(reads []string) {
	for _, name := range reads {
		if name == "$$" {
			d.unreadable(name, "JSONata outside of Step Functions; the input is $states.input")
			continue
		}
		d.report(SeverityError, UnsupportedJSONataExpression, "Reference to '"+name+
			"' at the top level is not supported.").
			hint("an expression starts from $states.input, $states.context or a variable")
	}
}

func (d *decoder) unreadable(name, where string) {
	d.report(SeverityError, UnsupportedJSONataExpression, "Reference to '"+name+"' is not supported here.").
		hint(name + " exists only in " + where)
}

// reads reports whether an expression refers to the variable path name. String literals do not count.
func reads(body, name string) bool {
	if !strings.Contains(body, name) {
		return false
	}
	code := outsideQuotes(body)
	for {
		_, after, found := strings.Cut(code, name)
		if !found {
			return false
		}
		if after == "" || !isNamePart(rune(after[0])) {
			return true
		}
		code = after
	}
}
