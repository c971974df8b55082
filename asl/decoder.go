package asl

import (
	"fmt"

	"stepback/asl/source"
	"stepback/jsonvalue"
)

// maxFindings limits the work on a hopeless definition; the service itself returns at most 100 diagnostics.
const maxFindings = 1000

// decoder converts the JSON tree of a definition into a Machine and collects diagnostics on the way. It keeps its
// position as a stack of steps, so that a location is only computed when it is needed.
type decoder struct {
	options  Options
	text     string
	path     source.Path
	findings []*finding
	dropped  finding // receives the findings beyond maxFindings
	failures int     // how many findings are errors

	language QueryLanguage // of the machine, branch or processor being decoded
	express  bool          // the states being decoded run in an express workflow
	names    map[string]bool
	labels   map[string]bool
	raised   map[string]bool // errors of Fail states

	iterators map[*MapFields]bool // Maps that use the old name of ItemProcessor

	// asked is the place that AcceptedAt asks about, and accepted its result; nil for Parse.
	asked    source.Path
	accepted *Accepted
}

// finding is a diagnostic whose position in the text is not known yet.
type finding struct {
	Diagnostic
	focus source.Path
	about string // the error name, for UnknownErrorName
	key   bool   // points at the member's name, not its value
	exact bool   // Span is already known
}

func newDecoder(o Options, text string) *decoder {
	return &decoder{
		options: o, text: text, language: JSONPath,
		express: o.Express,
		names:   map[string]bool{}, labels: map[string]bool{}, raised: map[string]bool{},
		iterators: map[*MapFields]bool{},
	}
}

func (d *decoder) enter(name string)  { d.path = append(d.path, source.Member(name)) }
func (d *decoder) enterElement(i int) { d.path = append(d.path, source.Element(i)) }
func (d *decoder) leave()             { d.path = d.path[:len(d.path)-1] }

// report adds a diagnostic about the value at the current path.
func (d *decoder) report(severity Severity, code Code, message string) *finding {
	if len(d.findings) >= maxFindings {
		return &d.dropped
	}
	if severity == SeverityError {
		d.failures++
	}
	f := &finding{focus: d.path.Join(), Diagnostic: Diagnostic{
		Severity: severity, Code: code, Message: message, Location: d.path.String(),
	}}
	d.findings = append(d.findings, f)
	return f
}

// fail reports that the value at the current path violates the language's schema.
func (d *decoder) fail(format string, args ...any) *finding {
	return d.report(SeverityError, SchemaValidationFailed, fmt.Sprintf(format, args...))
}

// hint adds a description of what would be accepted, or of what was found.
func (f *finding) hint(text string) *finding {
	f.Hint = text
	return f
}

// onKey moves the finding's position in the text to the name of a member of the value. The location stays.
func (f *finding) onKey(name string) *finding {
	f.focus, f.key = f.focus.Join(source.Member(name)), true
	return f
}

// at sets the finding's position in the text to span.
func (f *finding) at(span source.Span) *finding {
	f.Span, f.exact = span, true
	return f
}

// nowhere removes the location, for a finding about the definition as a whole.
func (f *finding) nowhere() *finding {
	f.Location = ""
	return f
}

// diagnostics completes the findings with their positions in the text. Without findings it does no work.
func (d *decoder) diagnostics() []Diagnostic {
	if len(d.findings) == 0 {
		return nil
	}
	lines := source.NewLines(d.text)
	var index *source.Index
	found := make([]Diagnostic, len(d.findings))
	for i, f := range d.findings {
		if !f.exact {
			if index == nil {
				index = source.NewIndex(d.text)
			}
			f.Span = d.span(index, f)
		}
		p := lines.Position(f.Span.Start)
		f.Line, f.Column = p.Line, p.Column
		found[i] = f.Diagnostic
	}
	return found
}

// span returns the text to underline: the member's name or its value. For an object or array it is only the name or
// the opening bracket.
func (d *decoder) span(index *source.Index, f *finding) source.Span {
	if f.key {
		return index.Key(f.focus)
	}
	value := index.Value(f.focus)
	if value.Start >= len(d.text) || d.text[value.Start] != '{' && d.text[value.Start] != '[' {
		return value
	}
	if key := index.Key(f.focus); key != value {
		return key
	}
	return source.Span{Start: value.Start, End: value.Start + 1}
}

// expect reports that v does not have the expected JSON type.
func (d *decoder) expect(kind string, v jsonvalue.Value) {
	d.fail("Expected value of type %s", kind).hint("found " + v.Kind().WithArticle())
}
