package asl

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"stepback/asl/source"
	"stepback/jsonvalue"
)

// Options defines the kind of state machine that a definition is parsed for, and how strictly it is checked. The
// zero value stands for a standard state machine, with only a light check of paths, intrinsic calls and
// expressions.
type Options struct {
	// Express rejects features that express state machines do not have: activities, .sync, .waitForTaskToken,
	// distributed Map.
	Express bool
	// Resources rejects Task Resources that name an integration or a pattern that Step Functions does not have.
	// Leave it false for an engine with custom integrations.
	Resources bool
	// Action returns an error if AWS has no such action of the service. If the error has a method Closed that returns
	// true, AWS has closed the service, which is a warning. Both are named as in a Resource, aws-sdk:SERVICE:ACTION. It
	// is called only if Resources is set; nil accepts all services and actions.
	Action func(service, action string) error
	// Syntax checks the expression languages.
	Syntax Syntax
	// Overlook reports whether an error does not keep Parse from returning a machine, for instance because it is about
	// a value that is not known yet. The machine is then incomplete there: a field may be missing, a state without a
	// known type is left out, and a target may not exist. nil overlooks nothing.
	Overlook func(Diagnostic) bool
}

// Syntax holds the checkers of the expression languages used in a definition. Each returns an error describing the
// problem, or nil; if a function is nil, the parser applies its own light check.
type Syntax struct {
	// Path checks any path: $.a[*], $$.Execution.Id, $variable.field.
	Path func(path string) error
	// ReferencePath checks a path that selects a single node.
	ReferencePath func(path string) error
	// Intrinsic checks a call such as States.Format('{}', $.a).
	Intrinsic func(call string) error
	// JSONata checks the text between {% and %}. It also returns the names of fields, $ and $$ that the expression
	// reads from an input document, because states have none.
	JSONata func(expression string) (reads []string, err error)
}

// Parse parses and validates the definition of a standard state machine. See Options.Parse.
func Parse(definition string) (*Machine, []Diagnostic) { return Options{}.Parse(definition) }

// Parse parses and validates a definition. If the diagnostics contain an error, the machine is nil. Otherwise it is
// complete, with all defaults filled in. There are at most 1,000 diagnostics, in Step Functions' order.
func (o Options) Parse(definition string) (*Machine, []Diagnostic) {
	d := newDecoder(o, definition)
	var m *Machine
	if v, ok := d.read(); ok {
		m = d.machine(v)
	}
	diagnostics := d.diagnostics()
	if o.refuses(diagnostics) {
		return nil, diagnostics
	}
	return m, diagnostics
}

// refuses reports whether one of the diagnostics is an error that o.Overlook does not accept.
func (o Options) refuses(diagnostics []Diagnostic) bool {
	return slices.ContainsFunc(diagnostics, func(d Diagnostic) bool {
		return d.Severity == SeverityError && (o.Overlook == nil || !o.Overlook(d))
	})
}

// ParseState parses and validates a single state, as passed to TestState. The returned machine contains it as its
// only state, with the given name. The target states that it names need not exist.
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

// read parses the text as a JSON object.
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
		d.fail("Definition must be a valid JSON object").nowhere().hint("this is " + v.Kind().WithArticle())
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

// malformed reports text that is not JSON. The message has two lines, like that of the service's own parser.
func (d *decoder) malformed(e *jsonvalue.SyntaxError) {
	// Of a text that ends too early, users see the last line that is not empty.
	at := min(e.Offset, len(strings.TrimRight(d.text, " \t\r\n")))
	d.report(SeverityError, InvalidJSONDescription, e.TwoLines(d.text)).nowhere().
		at(source.Span{Start: at, End: at + 1}).hint(syntaxHint(d.text, e.Offset))
}
