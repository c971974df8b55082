package document

import (
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
)

// MaxSize is the maximum length of a definition, in bytes of its JSON: the limit of CreateStateMachine.
const MaxSize = 1_048_576

// MaxText is the maximum length of a definition's source text, in bytes. With indentation, comments and
// placeholders, the text is longer than its JSON. Read rejects a longer text without parsing it, so callers need
// not read more than MaxText + 1 bytes of a file.
const MaxText = 8 * MaxSize

// Options configures how a text is read.
type Options struct {
	// YAML reads the text as YAML, a superset of JSON; otherwise it is read as JSON.
	YAML bool
	// Values holds the values of placeholders, by name. CloudFormation's pseudo parameters AWS::AccountId,
	// AWS::Partition, AWS::Region and AWS::URLSuffix have default values. A value may contain placeholders; they are
	// replaced too.
	Values map[string]string
}

// Document is the result of reading a definition.
type Document struct {
	// Text is the source text of the definition, or the text of the whole file that it is part of.
	Text string
	// JSON is the definition for Step Functions, with placeholders replaced by their values. A placeholder without
	// a value is replaced by a stand-in where the definition could not be understood otherwise. JSON is not usable
	// if Problems has an error.
	JSON string
	// Open lists the names of the placeholders without a value, each once, in the order of the text.
	Open []string
	// Needed lists the placeholders in Open that stand for a number, an object or another value that is not a
	// string. The definition cannot run without their values.
	Needed []string
	// Problems explains why the text could not be read at all.
	Problems []asl.Diagnostic

	places mapping // of JSON, to Text
	within mapping // of the definition's own text, to Text; nil if they are the same
	own    string  // the definition's own text

	// How the definition is written in Text; see Edits.
	quotes Quotes
	object source.Path // not nil if it is an object of a template
	isYAML bool        // it is an object in YAML
}

// Read reads a definition. It always returns a document; if the text cannot be read, Problems explains why.
func Read(text string, o Options) *Document { return read(&Document{Text: text}, text, o) }

func read(d *Document, text string, o Options) *Document {
	d.own = text
	if len(text) > MaxText {
		return d.refuse(*tooLong())
	}
	if problem := unreadable(text); problem != nil {
		return d.refuse(*problem)
	}
	values := pseudoParameters()
	for name, value := range o.Values {
		values[name] = value
	}
	filled, below, err := substitute(text, values, true)
	if err != nil {
		return d.refuse(problem{message: "The values of the placeholders cannot be filled in: " + err.Error()})
	}
	var wrong *problem
	if o.YAML {
		d.isYAML = true
		r := newYAMLReader(filled, values)
		if wrong = r.read(); wrong == nil {
			d.JSON, d.places, d.Open = r.out.String(), r.places, r.open.list
		}
	} else {
		f := &filler{rewriter: rewriter{text: filled}}
		f.fill()
		d.JSON, d.places = f.result()
		d.Open, d.Needed = f.open.list, f.needed.list
	}
	if wrong == nil && len(d.JSON) > MaxSize {
		wrong = tooLong()
	}
	if wrong != nil {
		wrong.span = below.origin(wrong.span)
		return d.refuse(*wrong)
	}
	d.places = d.places.over(below).over(d.within)
	return d
}

func tooLong() *problem {
	return &problem{message: "The definition is longer than 1,048,576 bytes, which CreateStateMachine refuses"}
}

// Place converts diagnostics about the JSON to diagnostics about the text. It omits errors about values with open
// placeholders, because only the placeholders' values show whether they are errors.
func (d *Document) Place(found []asl.Diagnostic) []asl.Diagnostic {
	if d.places.isIdentity() {
		return found
	}
	lines := source.NewLines(d.Text)
	placed := make([]asl.Diagnostic, 0, len(found))
	for _, f := range found {
		if d.Overlooks(f) {
			continue
		}
		f.Span = d.places.origin(f.Span)
		at := lines.Position(f.Span.Start)
		f.Line, f.Column = at.Line, at.Column
		f.Also = slices.Clone(f.Also)
		for i := range f.Also {
			p := &f.Also[i]
			p.Span = d.places.origin(p.Span)
			at := lines.Position(p.Span.Start)
			p.Line, p.Column = at.Line, at.Column
		}
		placed = append(placed, f)
	}
	return placed
}

// Origin returns the position in Text of a part of JSON. Of a part that has no text of its own, such as the braces that
// YAML does not write, it returns the position of the text nearest to it.
func (d *Document) Origin(at source.Span) source.Span { return d.places.origin(at) }

// Overlooks reports whether Place omits a diagnostic about the JSON: it is an error about a value with an open
// placeholder.
func (d *Document) Overlooks(f asl.Diagnostic) bool {
	return f.Severity == asl.SeverityError && d.places.isOpen(f.Span)
}

// Blamed returns the names of the placeholders without a value that cause errors which Place omits, each name once.
// With suitable values for them, the definition would have no such errors.
func (d *Document) Blamed(found []asl.Diagnostic) []string {
	var blamed names
	for _, f := range found {
		if f.Severity != asl.SeverityError {
			continue
		}
		for _, name := range d.places.openIn(f.Span) {
			blamed.add(name)
		}
	}
	return blamed.list
}

// Diagnose returns the problems that prevent reading the text. If there are none, it returns the findings of check
// about its JSON, at their positions in the text.
func (d *Document) Diagnose(check func(definition string) []asl.Diagnostic) []asl.Diagnostic {
	if len(d.Problems) > 0 {
		return d.Problems
	}
	return d.Place(check(d.JSON))
}

// Placeholders returns the names of all placeholders of the definition, with and without values, each once.
func (d *Document) Placeholders() []string { return Placeholders(d.own) }

// StandsIn reports whether a Resource of the JSON is a stand-in for a placeholder without a value: the function of the
// placeholder's name.
func (d *Document) StandsIn(resource string) bool {
	return slices.ContainsFunc(d.Open, func(name string) bool { return resource == standInFunction+nameFrom(name) })
}

// problem describes why a text cannot be read.
type problem struct {
	message, hint string
	span          source.Span // in the definition's own text
	code          asl.Code    // UnreadableDefinition if empty
}

func (d *Document) refuse(p problem) *Document {
	p.span = d.within.origin(p.span)
	if p.code == "" {
		p.code = asl.UnreadableDefinition
	}
	at := source.NewLines(d.Text).Position(p.span.Start)
	d.Problems = []asl.Diagnostic{{
		Severity: asl.SeverityError, Code: p.code, Message: p.message, Hint: p.hint,
		Line: at.Line, Column: at.Column, Span: p.span,
	}}
	return d
}

// IsYAML guesses whether a text is YAML, for texts whose file name does not say. It returns true if the text does not
// look like JSON and one of its lines begins with a field that every definition has.
func IsYAML(text string) bool {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return false
	}
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "StartAt:") || strings.HasPrefix(line, "States:")
	})
}
