package document

import (
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
)

// MaxSize is how long a definition may be, in bytes of its JSON: the limit of CreateStateMachine.
const MaxSize = 1_048_576

// MaxText is how long the text that a definition is kept in may be, in bytes: with indentation, comments and
// placeholders it is longer than its JSON. Read refuses a longer one without looking at it, so nobody needs to read a
// file further than one byte beyond.
const MaxText = 8 * MaxSize

// Options say how a text is read.
type Options struct {
	// YAML reads the text as YAML, of which JSON is a part; otherwise it is JSON.
	YAML bool
	// Values of placeholders, by their names. CloudFormation's pseudo parameters AWS::AccountId, AWS::Partition,
	// AWS::Region and AWS::URLSuffix have a value without being named here.
	Values map[string]string
}

// Document is a definition that was read.
type Document struct {
	// Text is the definition as it is kept.
	Text string
	// JSON is what Step Functions would be given: placeholders have their values, and those without one a stand-in
	// where a definition could not be understood otherwise. It is of no use when Problems has an error.
	JSON string
	// Open are the names of the placeholders without a value, each once, in the order of the text.
	Open []string
	// Needed are those of Open that have to be a number, an object or the like: of them nothing runs without their
	// value.
	Needed []string
	// Problems say why the text could not be read at all.
	Problems []asl.Diagnostic

	places mapping
}

// Read reads a definition. It always returns a document: when the text cannot be read, its Problems say why.
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

// yaml turns the text, with the values filled in, into JSON.
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

// Place returns diagnostics about the JSON as diagnostics about the text, without errors about values that are open:
// whether those are errors shows when the placeholders get their values.
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

// Blamed returns the names of the placeholders without a value that Place leaves errors out for, each once: the text
// runs when they have a fitting value.
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

// Diagnose returns what keeps the text from being read, else what check finds in its JSON, at its place in the text.
func (d *Document) Diagnose(check func(definition string) []asl.Diagnostic) []asl.Diagnostic {
	if len(d.Problems) > 0 {
		return d.Problems
	}
	return d.Place(check(d.JSON))
}

// StandsIn reports whether a Resource of the JSON was made up for a placeholder without a value: it need not be a
// Lambda function.
func (d *Document) StandsIn(resource string) bool {
	return slices.ContainsFunc(d.Open, func(name string) bool { return resource == standInFunction+nameFrom(name) })
}

// problem is why a text cannot be read.
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

// IsYAML guesses whether a text without a telling file name is YAML: it is when it does not look like JSON and a line
// of it begins with one of the fields that every definition has.
func IsYAML(text string) bool {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return false
	}
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "StartAt:") || strings.HasPrefix(line, "States:")
	})
}
