package lsp

import (
	"context"
	"fmt"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
)

// actions returns the fixes of the findings of review that touch the selected range.
func (s *server) actions(_ *glsp.Context, p *protocol.CodeActionParams) (any, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	actions := []protocol.CodeAction{}
	start, end := d.offset(p.Range.Start), d.offset(p.Range.End)
	for _, x := range d.examinations(context.Background()) {
		for _, f := range x.report.Findings {
			placed := x.file.Document.Place([]asl.Diagnostic{f.Diagnostic})
			if len(f.Fix) == 0 || len(placed) == 0 || placed[0].Span.Start > end || placed[0].Span.End < start {
				continue
			}
			edits, err := definitions.EditsOf(x.file, f)
			if err != nil {
				continue // the text is written in a way that cannot be edited
			}
			kind := protocol.CodeActionKindQuickFix
			actions = append(actions, protocol.CodeAction{
				Title: fmt.Sprintf("Fix %s (stepback)", f.Code), Kind: &kind,
				Diagnostics: []protocol.Diagnostic{d.diagnostic(&placed[0])}, Edit: d.workspaceEdit(edits),
			})
		}
	}
	return actions, nil
}
