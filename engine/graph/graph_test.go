package graph_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/asl"
	"stepback/engine/graph"
	"stepback/engine/history"
	"stepback/engine/timeline"
)

var update = flag.Bool("update", false, "rewrite docs/csv-import.svg")

func parse(t testing.TB, definition string) *asl.Machine {
	t.Helper()
	m, diagnostics := asl.Parse(definition)
	if m == nil {
		t.Fatal(diagnostics)
	}
	return m
}

// TestPictureOfTheImport keeps the README's picture up to date.
func TestPictureOfTheImport(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../statemachine/testdata/single.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := graph.New(parse(t, string(text)), "The state machine of the CSV import").SVG(&got, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	const file = "../../docs/csv-import.svg"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is not current (%v): go test ./graph -update", file, err)
	}
}

// machines generates definitions with choices, catchers, loops, Parallel and Map states.
func machines(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(1, 8).Draw(t, "states")
		prefix := rapid.StringMatching(`[A-Z]{6}`).Draw(t, "prefix")
		name := func(i int) string { return fmt.Sprintf("%s%d", prefix, i) }
		target := func(label string) string { return name(rapid.IntRange(0, n-1).Draw(t, label)) }
		states := make([]string, n)
		for i := range n {
			next := `"End":true`
			if i < n-1 {
				next = `"Next":"` + name(i+1) + `"`
			}
			catch := `,"Catch":[{"ErrorEquals":["States.ALL"],"Next":"` + target("catch") + `"}]`
			inner := func() string { return machines(depth-1).Draw(t, "inner") }
			kind := rapid.IntRange(0, 4).Draw(t, "kind")
			switch {
			case kind == 0 && i < n-1:
				states[i] = fmt.Sprintf(`%q:{"Type":"Choice","Choices":[{"Variable":"$.a","IsPresent":true,"Next":%q}],"Default":%q}`,
					name(i), target("choice"), name(i+1))
			case kind == 1 && depth > 0:
				states[i] = fmt.Sprintf(`%q:{"Type":"Parallel","Branches":[%s,%s]%s,%s}`, name(i), inner(), inner(), catch, next)
			case kind == 2 && depth > 0:
				states[i] = fmt.Sprintf(`%q:{"Type":"Map","ItemProcessor":%s,%s}`, name(i), inner(), next)
			default:
				states[i] = fmt.Sprintf(`%q:{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"}%s,%s}`,
					name(i), catch, next)
			}
		}
		return `{"StartAt":"` + name(0) + `","States":{` + strings.Join(states, ",") + `}}`
	})
}

// No two states of the same depth overlap, states lie within the state around them, the SVG is well-formed XML, and
// the size of the picture is bounded.
func TestNothingOverlaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		definition := machines(2).Draw(t, "machine")
		m, _ := asl.Parse(definition)
		if m == nil {
			t.Skip("names that are not unique")
		}
		g := graph.New(m, "")
		for i, a := range g.Nodes {
			if a.X < 0 || a.Y < 0 || a.X+a.Width > g.Width || a.Y+a.Height > g.Height {
				t.Fatalf("%s is outside of the picture: %+v of %v by %v", a.Name, a, g.Width, g.Height)
			}
			for _, b := range g.Nodes[i+1:] {
				apart := a.X+a.Width <= b.X || b.X+b.Width <= a.X || a.Y+a.Height <= b.Y || b.Y+b.Height <= a.Y
				within := a.Box() && b.Depth > a.Depth && b.X >= a.X && b.X+b.Width <= a.X+a.Width &&
					b.Y >= a.Y && b.Y+b.Height <= a.Y+a.Height ||
					b.Box() && a.Depth > b.Depth && a.X >= b.X && a.X+a.Width <= b.X+b.Width &&
						a.Y >= b.Y && a.Y+a.Height <= b.Y+b.Height
				if !apart && !within {
					t.Fatalf("%+v and %+v overlap\n%s", a, b, definition)
				}
			}
		}
		var out bytes.Buffer
		if err := g.SVG(&out, graph.Options{}); err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(&out); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}

const saga = `{"StartAt":"Charge <b>","States":{
	"Charge <b>":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"},
		"Retry":[{"ErrorEquals":["Busy"]}],"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Undo"}],"Next":"Both"},
	"Both":{"Type":"Parallel","Branches":[{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}],"End":true},
	"Undo":{"Type":"Pass","End":true}}}`

// TestPath draws the path of an execution: two attempts, a catcher, and the way to the end.
func TestPath(t *testing.T) {
	t.Parallel()
	fail := &history.Details{Failure: history.NewFailure("Busy", "")}
	marks := graph.MarksOf(timeline.Read([]history.Event{
		{ID: 1, Type: history.ExecutionStarted},
		{ID: 2, Type: history.TaskStateEntered, Name: "Charge <b>"},
		{ID: 3, Previous: 2, Type: history.TaskScheduled}, {ID: 4, Previous: 3, Type: history.TaskFailed, More: fail},
		{ID: 5, Previous: 4, Type: history.TaskScheduled}, {ID: 6, Previous: 5, Type: history.TaskFailed, More: fail},
		{ID: 7, Previous: 6, Type: history.TaskStateExited, Name: "Charge <b>"},
		{ID: 8, Previous: 7, Type: history.PassStateEntered, Name: "Undo"},
		{ID: 9, Previous: 8, Type: history.PassStateExited, Name: "Undo"},
		{ID: 10, Previous: 9, Type: history.ExecutionSucceeded},
	}))
	var out bytes.Buffer
	g := graph.New(parse(t, saga), "saga & <more>")
	if err := g.SVG(&out, graph.Options{Marks: marks, Bare: true, Link: func(s string) string { return "?s=" + s }}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<title>saga &amp; &lt;more&gt;</title>`, `class="node caught"`, `Charge &lt;b&gt;`, `2 attempts`,
		`<a href="?s=Charge &lt;b&gt;">`, `class="catch taken"`, `class="node succeeded"`, `class="node box idle"`,
		`(Task, lambda:invoke), retries: caught, 2 attempts`, `class="next taken"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %s", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "<style>") {
		t.Error("a bare picture has a style sheet")
	}
	out.Reset()
	if err := g.PNG(&out, graph.Options{Marks: marks}); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&out); err != nil {
		t.Error(err)
	}
}

func TestTextForms(t *testing.T) {
	t.Parallel()
	var mermaid, dot bytes.Buffer
	m := parse(t, saga)
	if err := errors.Join(graph.Mermaid(&mermaid, m), graph.DOT(&dot, m)); err != nil {
		t.Fatal(err)
	}
	if want := `flowchart TD
  start([Start])
  s1["Charge #lt;b#gt;"]
  subgraph s2["Both · Parallel"]
    s3["A"]
  end
  s4["Undo"]
  s1 --> s2
  s1 -.->|"States.ALL"| s4
  s2 --> finish
  s4 --> finish
  start --> s1
  finish([End])
`; mermaid.String() != want {
		t.Errorf("got\n%swant\n%s", mermaid.String(), want)
	}
	for _, want := range []string{`subgraph cluster_s2 {`, `s1 [label="Charge <b>"];`,
		`s1 -> s4 [style=dashed, color=red];`, `s1 -> s3 [lhead=cluster_s2];`, `s3 -> finish [ltail=cluster_s2];`} {
		if !strings.Contains(dot.String(), want) {
			t.Errorf("%s\nlacks %s", dot.String(), want)
		}
	}
}

func TestPart(t *testing.T) {
	t.Parallel()
	m := parse(t, saga)
	if p := graph.Part(m, "A"); p.StartAt != "A" || len(p.States) != 1 {
		t.Errorf("%+v", p.Graph)
	}
	if p := graph.Part(m, "Undo"); p != m {
		t.Errorf("%+v", p)
	}
}

// BenchmarkSVG draws 300 states, 100 of which catch to one handler.
func BenchmarkSVG(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"StartAt":"S0","States":{`)
	for i := range 300 {
		catch := ""
		if i%3 == 0 {
			catch = `,"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Handler"}]`
		}
		fmt.Fprintf(&text, `"S%d":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"}%s,"Next":"S%d"},`,
			i, catch, i+1)
	}
	text.WriteString(`"S300":{"Type":"Succeed"},"Handler":{"Type":"Fail"}}}`)
	m := parse(b, text.String())
	size := 0
	for b.Loop() {
		var out bytes.Buffer
		if err := graph.New(m, "").SVG(&out, graph.Options{}); err != nil {
			b.Fatal(err)
		}
		size = out.Len()
	}
	b.ReportMetric(float64(size), "bytes")
}
