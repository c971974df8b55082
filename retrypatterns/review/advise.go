package review

import (
	"fmt"

	"stepback/asl"
	"stepback/asl/source"
)

// advise adds a remark about the value at a path; where the definition leaves it out, the place is what should hold it.
func (r *reviewer) advise(code asl.Code, at source.Path, hint, message string, args ...any) {
	span := r.index.Value(at)
	if opens := r.text[span.Start]; opens == '{' || opens == '[' { // one line is enough
		span = r.index.Key(at)
		if r.text[span.Start] == opens {
			span.End = span.Start + 1
		}
	}
	p := r.lines.Position(span.Start)
	r.report.Advice = append(r.report.Advice, asl.Diagnostic{
		Severity: asl.SeverityAdvice, Code: code, Message: fmt.Sprintf(message, args...), Hint: hint,
		Location: at.String(), Line: p.Line, Column: p.Column, Span: span,
	})
}
