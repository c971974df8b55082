package asl

import (
	"errors"
	"unicode/utf8"

	"stepback/asl/source"
	"stepback/jsonvalue"
)

// Options say how strictly and for what kind of state machine a definition is read. The zero value is a standard state
// machine whose paths, intrinsic calls and expressions get only a light check.
type Options struct {
	// Express refuses what express state machines cannot do: activities, .sync, .waitForTaskToken, distributed Map.
	Express bool
	// Resources refuses Resources of Tasks that Step Functions does not know: integrations and patterns that do not
	// exist. An engine with integrations of its own takes them.
	Resources bool
	// Action says why AWS has no action of a service, both named as in a Resource, aws-sdk:SERVICE:ACTION. It is asked
	// where Resources is set; a nil function takes all services and actions.
	Action func(service, action string) error
	// Syntax checks the expression languages.
	Syntax Syntax
}

// Syntax holds the checkers of the expression languages that stand inside a definition. Each returns no error or says
// what is wrong; a nil function leaves the language to the parser's own light check.
type Syntax struct {
	// Path checks any path: $.a[*], $$.Execution.Id, $variable.field.
	Path func(path string) error
	// ReferencePath checks a path that leads to a single node.
	ReferencePath func(path string) error
	// Intrinsic checks a call such as States.Format('{}', $.a).
	Intrinsic func(call string) error
	// JSONata checks the text between {% and %}. It also returns what the expression reads of an input document, which
	// states do not have: names of fields, $ and $$.
	JSONata func(expression string) (reads []string, err error)
}

// Parse reads and validates the definition of a standard state machine. See Options.Parse.
func Parse(definition string) (*Machine, []Diagnostic) { return Options{}.Parse(definition) }

// Parse reads and validates a definition. The machine is nil exactly when the diagnostics contain an error; otherwise
// it is complete, with all defaults filled in. Diagnostics are in the order in which Step Functions reports them, at
// most 1,000.
func (o Options) Parse(definition string) (*Machine, []Diagnostic) {
	d := newDecoder(o, definition)
	var m *Machine
	if v, ok := d.read(); ok {
		m = d.machine(v)
	}
	diagnostics := d.diagnostics()
	if HasErrors(diagnostics) {
		return nil, diagnostics
	}
	return m, diagnostics
}

// ParseState reads and validates a single state that stands alone, as TestState takes it; it becomes the only state, of
// the given name, of the machine that is returned. The states that it names as targets need not exist.
func (o Options) ParseState(name, state string) (*Machine, []Diagnostic) {
	d := newDecoder(o, state)
	var m *Machine
	if v, ok := d.read(); ok {
		m = d.standalone(name, v)
	}
	diagnostics := d.diagnostics()
	if HasErrors(diagnostics) {
		return nil, diagnostics
	}
	return m, diagnostics
}

// read turns the text into a JSON object.
func (d *decoder) read() (jsonvalue.Value, bool) {
	if !utf8.ValidString(d.text) {
		d.report(SeverityError, UnreadableDefinition, "The text is not UTF-8").nowhere()
		return jsonvalue.Value{}, false
	}
	v, err := jsonvalue.Parse(d.text)
	var syntax *jsonvalue.SyntaxError
	switch {
	case d.blank():
		d.fail("Definition must be a valid JSON object").nowhere().hint("an object with at least StartAt and States")
	case errors.As(err, &syntax):
		d.malformed(syntax)
	case v.IsNull():
		d.report(SeverityError, MissingDescription, "Received a null or empty workflow input").
			hint("an object with at least StartAt and States")
	case v.Kind() != jsonvalue.Object:
		d.fail("Definition must be a valid JSON object").hint("this is " + kindWithArticle(v))
	default:
		return v, true
	}
	return jsonvalue.Value{}, false
}

func (d *decoder) blank() bool {
	for _, c := range []byte(d.text) {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// malformed reports text that is not JSON, in the two lines of the service's own parser.
func (d *decoder) malformed(e *jsonvalue.SyntaxError) {
	d.report(SeverityError, InvalidJSONDescription, e.TwoLines(d.text)).nowhere().
		at(source.Span{Start: e.Offset, End: e.Offset + 1}).hint(syntaxHint(d.text, e.Offset))
}

func kindWithArticle(v jsonvalue.Value) string {
	switch kind := v.Kind(); kind {
	case jsonvalue.Array, jsonvalue.Object:
		return "an " + kind.String()
	case jsonvalue.Null:
		return "null"
	default:
		return "a " + kind.String()
	}
}
