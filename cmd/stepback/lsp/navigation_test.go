package lsp

import (
	"strings"
	"testing"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

// place names a position of a document.
func place(uri string, line, character uint32) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": at(line, character)}
}

// navigable has a nested Map, in lines 0 to 14.
const navigable = `StartAt: Pay
States:
  Pay:
    Type: Task  # pays
    Resource: arn:aws:lambda:us-east-1:123456789012:function:pay
    TimeoutSeconds: 10
    Retry:
      - {ErrorEquals: [Busy], IntervalSeconds: 2, MaxAttempts: 3, BackoffRate: 2}
    Next: Each
  Each:
    Type: Map
    ItemProcessor:
      StartAt: One
      States: {One: {Type: Pass, End: true}}
    End: true
`

func TestNavigation(t *testing.T) {
	t.Parallel()
	e := edits(t)
	const uri = "file:///work/pay.asl.yaml"
	found := e.opens(uri, navigable)

	var symbols []struct {
		Name, Detail   string
		SelectionRange protocol.Range
		Children       []struct{ Name string }
	}
	if err := e.ask("textDocument/documentSymbol", place(uri, 0, 0), &symbols); err != nil || len(symbols) != 2 {
		t.Fatalf("the symbols are %+v, %v", symbols, err)
	}
	if s := symbols[1]; s.Name != "Each" || s.Detail != "Map" || s.SelectionRange.Start != at(9, 2) || len(s.Children) != 1 || s.Children[0].Name != "One" {
		t.Errorf("the second symbol is %+v", s)
	}

	var target protocol.Location
	if err := e.ask("textDocument/definition", place(uri, 8, 11), &target); err != nil || target.Range.Start != at(9, 2) {
		t.Errorf("the definition is at %+v, %v", target, err)
	}

	var hover struct {
		Contents protocol.MarkupContent
	}
	if err := e.ask("textDocument/hover", place(uri, 6, 6), &hover); err != nil ||
		!strings.Contains(hover.Contents.Value, "waits of up to 14s") || !strings.Contains(hover.Contents.Value, "at most 54s in the state") {
		t.Errorf("the hover is %+v, %v", hover, err)
	}
	if err := e.ask("textDocument/hover", place(uri, 7, 32), &hover); err != nil || !strings.Contains(hover.Contents.Value, "before the first retry") {
		t.Errorf("the hover is %+v, %v", hover, err)
	}

	rename := place(uri, 9, 3)
	rename["newName"] = "For each"
	var edit protocol.WorkspaceEdit
	if err := e.ask("textDocument/rename", rename, &edit); err != nil || len(edit.Changes[uri]) != 2 {
		t.Fatalf("the edits are %+v, %v", edit, err)
	}
	e.applies(uri, navigable, 2, edit, strings.NewReplacer("Next: Each", "Next: For each", "  Each:", "  For each:").Replace(navigable))
	for _, name := range []string{"Pay", "One", "a: b", "", "1"} {
		rename["newName"] = name
		if err := e.ask("textDocument/rename", rename, &edit); err == nil {
			t.Errorf("renaming to %q gives %v", name, edit)
		}
	}

	e.changes(uri, 3, map[string]any{"text": navigable})
	jitter := finding(t, found, "NO_JITTER")
	var actions []struct {
		Title string
		Edit  protocol.WorkspaceEdit
	}
	ask := map[string]any{"textDocument": map[string]any{"uri": uri}, "range": jitter.Range, "context": map[string]any{"diagnostics": []any{}}}
	if err := e.ask("textDocument/codeAction", ask, &actions); err != nil {
		t.Fatal(err)
	}
	for _, a := range actions {
		if a.Title == "Fix NO_JITTER (stepback)" {
			text := e.applied(navigable, a.Edit.Changes[uri])
			if !strings.Contains(text, `"JitterStrategy": "FULL"`) || !strings.Contains(text, "# pays") {
				t.Errorf("the fixed text is %s", text)
			}
			return
		}
	}
	t.Errorf("the actions are %+v", actions)
}

func TestRenameInAString(t *testing.T) {
	t.Parallel()
	e := edits(t)
	const uri, text = "file:///work/stack.template.json", `{"Resources":{"M":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"RoleArn":"arn:aws:iam::123456789012:role/r",` +
		"\r\n" + `"DefinitionString":"{\"StartAt\":\"Pay\",\"States\":{\"Pay\":{\"Type\":\"Pass\",\"End\":true}}}"}}}}`
	e.opens(uri, text)
	rename := place(uri, 1, 36)
	rename["newName"] = "Charge"
	var edit protocol.WorkspaceEdit
	if err := e.ask("textDocument/rename", rename, &edit); err != nil {
		t.Fatal(err)
	}
	e.applies(uri, text, 2, edit, strings.ReplaceAll(text, `\"Pay`, `\"Charge`))
}

// applied returns a text with edits, the last of them first.
func (e *editor) applied(text string, edits []protocol.TextEdit) string {
	l := newLines(text)
	for start := len(text); ; {
		next := -1
		for i := range edits {
			if at := l.offset(edits[i].Range.End); at <= start && (next < 0 || at > l.offset(edits[next].Range.End)) {
				next = i
			}
		}
		if next < 0 {
			return text
		}
		start = l.offset(edits[next].Range.Start)
		text = text[:start] + edits[next].NewText + text[l.offset(edits[next].Range.End):]
		edits = append(append([]protocol.TextEdit{}, edits[:next]...), edits[next+1:]...)
	}
}

// applies checks the text after an edit, and sends it.
func (e *editor) applies(uri, text string, version int, edit protocol.WorkspaceEdit, want string) {
	e.t.Helper()
	got := e.applied(text, edit.Changes[uri])
	if got != want {
		e.t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
	e.changes(uri, version, map[string]any{"text": got})
}
