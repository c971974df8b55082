package lsp

import (
	"fmt"
	"strings"
	"testing"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

func TestPictureFollowsTheCursor(t *testing.T) {
	t.Parallel()
	e := edits(t)
	const uri = "file:///work/pay.asl.yaml"
	e.opens(uri, navigable)
	for _, c := range []struct {
		line  uint32
		state string
	}{{0, ""}, {2, "Pay"}, {7, "Pay"}, {10, "Each"}, {13, "One"}} {
		var got picture
		if err := e.ask(methodGraph, place(uri, c.line, 20), &got); err != nil || got.State != c.state ||
			len(got.States) != 3 ||
			!strings.Contains(got.SVG, `<a href="#Pay">`) {
			t.Errorf("line %d gives %+v, %v", c.line, got, err)
		}
	}
	e.changes(uri, 2, map[string]any{"text": "StartAt: ["})
	var got picture
	if err := e.ask(methodGraph, place(uri, 0, 0), &got); err != nil || got.SVG != "" || len(got.States) != 0 {
		t.Errorf("an unfinished text gives %+v, %v", got, err)
	}
}

func TestLensesOfTests(t *testing.T) {
	t.Parallel()
	e := edits(t)
	lenses := func(uri, text string) string {
		e.opens(uri, text)
		var all []protocol.CodeLens
		if err := e.ask(
			"textDocument/codeLens",
			map[string]any{"textDocument": map[string]any{"uri": uri}},
			&all,
		); err != nil {
			t.Error(err)
		}
		var b strings.Builder
		for _, l := range all {
			fmt.Fprintln(&b, l.Range.Start.Line, l.Command.Title, l.Command.Command, l.Command.Arguments)
		}
		return b.String()
	}
	const tests = "# tests\ntests:\n  - name: pays\n    expect: {status: SUCCEEDED}\n  - inputFile: x.json\n    name: \"is busy\"\n"
	if got, want := lenses("file:///work/pay.test.yaml", tests), `2 Run test stepback.runTest [/work/pay.test.yaml pays]
4 Run test stepback.runTest [/work/pay.test.yaml is busy]
1 Run all tests stepback.runTest [/work/pay.test.yaml]
`; got != want {
		t.Errorf("the lenses are\n%s", got)
	}
	for uri, text := range map[string]string{"file:///work/pay.yaml": tests, "file:///work/b.test.yaml": "tests: [", "file:///work/c.test.yaml": "tests: 1"} {
		if got := lenses(uri, text); got != "" {
			t.Errorf("%s has %s", uri, got)
		}
	}
}
