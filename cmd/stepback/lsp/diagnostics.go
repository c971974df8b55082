package lsp

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/cmd/stepback/terminal"
	"stepback/internal/lazyregexp"
)

// maxDiagnostics is the maximum number of diagnostics of a document.
const maxDiagnostics = 200

// work publishes the diagnostics of the open documents, whenever they change, until ctx ends.
func (s *server) work(ctx context.Context, notify func(method string, params any)) {
	for {
		work, uri, d, ok := s.open.next(ctx)
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-s.open.wake:
			}
			continue
		}
		if ctx.Err() != nil {
			return
		}
		p := protocol.PublishDiagnosticsParams{URI: uri, Diagnostics: []protocol.Diagnostic{}}
		if d != nil {
			version := protocol.UInteger(max(0, d.version))
			p.Version, p.Diagnostics = &version, s.diagnose(work, d)
		}
		if work.Err() == nil {
			notify(protocol.ServerTextDocumentPublishDiagnostics, p)
		}
	}
}

// diagnose returns the diagnostics of a document. A panic becomes a diagnostic.
func (s *server) diagnose(ctx context.Context, d *document) (shown []protocol.Diagnostic) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.errors, "stepback lsp: checking %s failed: %v\n%s", d.path, p, debug.Stack())
			shown = []protocol.Diagnostic{
				d.about(protocol.DiagnosticSeverityError, 0, fmt.Sprintf("checking this file failed: %v", p)),
			}
		}
	}()
	return d.diagnostics(ctx)
}

// lineOf matches the line that the message of a parser names.
var lineOf = lazyregexp.New(`\bline (\d+)`)

// diagnostics returns the findings of validate and of retries review, the most severe first, at most maxDiagnostics.
func (d *document) diagnostics(ctx context.Context) []protocol.Diagnostic {
	shown := []protocol.Diagnostic{}
	_, unread := d.read()
	for _, u := range unread {
		if len(d.text) > maxText {
			shown = append(shown, d.about(protocol.DiagnosticSeverityWarning, 0, u.Err.Error()))
			continue
		}
		message, line := terminal.Words(u.Err), 0
		if m := lineOf.FindStringSubmatch(message); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		shown = append(shown, d.about(protocol.DiagnosticSeverityError, line, message))
	}
	var found []asl.Diagnostic
	for _, x := range d.examinations(ctx) {
		found = append(found, asl.Apart(x.found)...)
		found = append(found, asl.Apart(x.advice)...)
	}
	found = slices.DeleteFunc(found, func(f asl.Diagnostic) bool { return f.Consequence })
	slices.SortStableFunc(found, func(a, b asl.Diagnostic) int {
		return cmp.Or(cmp.Compare(severityOf(a), severityOf(b)), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	hidden := 0
	if most := maxDiagnostics - len(shown); len(found) > most {
		hidden = len(found) - most + 1
		found = found[:most-1]
	}
	for i := range found {
		shown = append(shown, d.diagnostic(&found[i]))
	}
	if hidden > 0 {
		shown = append(
			shown,
			d.about(protocol.DiagnosticSeverityInformation, 0, terminal.Counted(int64(hidden), "finding")+
				" of this file not shown here: run stepback validate and stepback retries review"),
		)
	}
	return shown
}

// severityOf returns the protocol's severity of a finding; the most severe has the lowest number.
func severityOf(f asl.Diagnostic) protocol.DiagnosticSeverity {
	switch f.Severity {
	case asl.SeverityError:
		return protocol.DiagnosticSeverityError
	case asl.SeverityWarning:
		return protocol.DiagnosticSeverityWarning
	default:
		return protocol.DiagnosticSeverityInformation
	}
}

// sourceName is the name that editors show beside a diagnostic.
var sourceName = "stepback"

// diagnostic converts a finding.
func (d *document) diagnostic(f *asl.Diagnostic) protocol.Diagnostic {
	severity := severityOf(*f)
	message, _, _ := strings.Cut(f.Message, "\n at [Source: ") // AWS's message repeats the definition
	if f.Hint != "" {
		message += "\n" + f.Hint
	}
	return protocol.Diagnostic{
		Range: d.span(f.Span), Severity: &severity, Source: &sourceName, Message: message,
		Code: &protocol.IntegerOrString{Value: string(f.Code)},
	}
}

// about returns a diagnostic about a line, which counts from 1, or about the document as a whole if line is 0.
func (d *document) about(severity protocol.DiagnosticSeverity, line int, message string) protocol.Diagnostic {
	at := d.starts[max(0, min(line-1, len(d.starts)-1))]
	return protocol.Diagnostic{Range: d.span(source.Span{Start: at, End: at}), Severity: &severity, Source: &sourceName,
		Message: message}
}
