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
	// AWS::Partition, AWS::Region and AWS::URLSuffix have default values.
	Values map[string]string
}

// Document is the result of reading a definition.
type Document struct {
	// Text is the source text of the definition.
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

	places mapping
}

// Read reads a definition. It always returns a document; if the text cannot be read, Problems explains why.
func Read(text string, o Options) *Document {
	d := &Document{Text: text}
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
	f := &filler{rewriter: rewriter{text: text}, values: values}
	var wrong *problem
	if o.YAML {
		f.fillYAML()
		wrong = d.yaml(f)
	} else {
		f.fillJSON()
		d.JSON, d.places = f.result()
		d.Open, d.Needed = f.open.list, f.needed.list
	}
	if wrong == nil && len(d.JSON) > MaxSize {
		wrong = tooLong()
	}
	if wrong != nil {
		return d.refuse(*wrong)
	}
	return d
}

// yaml converts the text, with the values filled in, to JSON.
func (d *Document) yaml(f *filler) *problem {
	filled, below := f.result()
	if len(filled) > MaxText {
		return tooLong()
	}
	r := newYAMLReader(filled, f.values)
	if wrong := r.read(); wrong != nil {
		wrong.span = below.origin(wrong.span)
		return wrong
	}
	d.JSON, d.places, d.Open = r.out.String(), r.places.over(below), r.open.list
	return nil
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
		if f.Severity == asl.SeverityError && d.places.isOpen(f.Span) {
			continue
		}
		f.Span = d.places.origin(f.Span)
		at := lines.Position(f.Span.Start)
		f.Line, f.Column = at.Line, at.Column
		placed = append(placed, f)
	}
	return placed
}

// Blamed returns the names of the placeholders without a value that cause errors which Place omits, each name once.
// With suitable values for them, the definition would have no such errors.
func (d *Document) Blamed(found []asl.Diagnostic) []string {
	var blamed names
	for _, f := range found {
		if f.Severity != asl.SeverityError || !d.places.isOpen(f.Span) {
			continue
		}
		at := d.places.origin(f.Span)
		for _, m := range placeholder.FindAllStringSubmatch(d.Text[at.Start:at.End], -1) {
			if slices.Contains(d.Open, m[1]) {
				blamed.add(m[1])
			}
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

// StandsIn reports whether a Resource of the JSON is a stand-in for a placeholder without a value. The real
// Resource may be something other than a Lambda function.
func (d *Document) StandsIn(resource string) bool {
	return slices.ContainsFunc(d.Open, func(name string) bool { return resource == standInFunction+nameFrom(name) })
}

// problem describes why a text cannot be read.
type problem struct {
	message, hint string
	span          source.Span
}

func (d *Document) refuse(p problem) *Document {
	at := source.NewLines(d.Text).Position(p.span.Start)
	d.Problems = []asl.Diagnostic{{
		Severity: asl.SeverityError, Code: asl.UnreadableDefinition, Message: p.message, Hint: p.hint,
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
