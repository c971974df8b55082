package conformance

import (
	"strings"
	"testing"
	"time"
)

func value(t *testing.T, text string) any {
	t.Helper()
	v, ok := parse(text)
	if !ok {
		t.Fatalf("not JSON: %s", text)
	}
	return v
}

func newUnifier(drift ...string) *unifier {
	u := &unifier{names: &Names{Account: "1", Region: "r", Now: time.Unix(0, 0)}, drift: map[string]bool{},
		bound: map[string]string{}}
	for _, d := range drift {
		u.drift[d] = true
	}
	return u
}

func TestUnify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ want, got, differs string }{
		{`{"a":1}`, `{"a":1.0}`, ""},
		{`{"a":1}`, `{"a":true}`, `a: want 1, got true`},
		{`{"a":1}`, `{"a":"1"}`, `a: want 1, got "1"`},
		{`{"a":1}`, `{}`, `a: want 1, got nothing`},
		{`{"a":1}`, `{"a":1,"b":2}`, `b: want nothing, got 2`},
		{`{"a":1}`, `{"a":1,"new":2,"RequestId":"x"}`, ""},
		{`[1,2]`, `[2,1]`, `[0]: want 1, got 2`},
		{`[1]`, `[1,2]`, `: want [1], got [1,2]`},
		{`"⟦*⟧"`, `{"any":"thing"}`, ""},
		{`"a⟦*⟧c"`, `"abbc"`, ""},
		{`"arn:⟦region⟧:⟦account⟧"`, `"arn:r:1"`, ""},
		{`["⟦b.x⟧","⟦b.x⟧"]`, `["p","p"]`, ""},
		{`["⟦b.x⟧","⟦b.x⟧"]`, `["p","q"]`, `[1]: want "⟦b.x⟧", got "q"`},
		{`"⟦b.x⟧-⟦b.x⟧"`, `"p-q"`, `: want "⟦b.x⟧-⟦b.x⟧", got "p-q"`},
		{`"⟦b.x⟧"`, `""`, `: want "⟦b.x⟧", got ""`},
		{`{"⟦b.x⟧":1}`, `{"k":1}`, ""},
		{`{"o":"{\"a\": 1}"}`, `{"o":{"a":1}}`, ""},
		{`{"o":{"a":1}}`, `{"o":"{\"a\":1}"}`, ""},
		{`"[1, 2]"`, `"[1,2]"`, ""},
		{`"[1, 2]"`, `"[1,3]"`, `[1]: want 2, got 3`},
		{`null`, `null`, ""},
		{`null`, `0`, `: want null, got 0`},
	} {
		m := newUnifier("new").unify("", value(t, c.want), value(t, c.got))
		if got := text(m); got != c.differs {
			t.Errorf("%s and %s: %q, want %q", c.want, c.got, got, c.differs)
		}
	}
}

func text(m *Mismatch) string {
	if m == nil {
		return ""
	}
	return m.String()
}

func TestNormalise(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"startDate":1.5,"list":[{"stopDate":2}]}`:          `{"list":[{"stopDate":"datetime"}],"startDate":"datetime"}`,
		`{"o":"{\"timestampX\":3,\"t\":\"{\\\"a\\\":1}\"}"}`: `{"o":{"t":{"a":1},"timestampX":"timestamp"}}`,
		`{"at":"on 2026-01-02T03:04:05.678Z and"}`:           `{"at":"on date and"}`,
		`{"Timestamp":"2026-01-02T03:04:05+02:00"}`:          `{"Timestamp":"date"}`,
		`{"bad":"2016-12-05T25:29:29Z","text":"{not JSON"}`:  `{"bad":"2016-12-05T25:29:29Z","text":"{not JSON"}`,
	} {
		got, err := plain(Normalise(value(t, given)))
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", given, got, err, want)
		}
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	n := &Names{Account: "1", Region: "r", Now: time.Unix(0, 0)}
	n.Answered(3, map[string]any{"arn": "x", "list": []any{map[string]any{"k": "v"}}, "input": `{"a":"b"}`})
	got, err := n.Params(value(t, `{"d":{"$json":{"k<":"⟦s3.arn⟧"}},"p":["⟦s3.list.0.k⟧","⟦s3.input.$json.a⟧","⟦now+2d⟧"],"b":{"$bytes":"⟦region⟧"}}`))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := plain(got)
	if want := `{"b":"r","d":"{\"k<\":\"x\"}","p":["v","b","1970-01-03T00:00:00"]}`; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if a, b := n.Text("⟦u1⟧ ⟦u1⟧"), n.Text("⟦u2⟧"); len(a) != 17 || a[:8] != a[9:] || a[:8] == b {
		t.Errorf("fresh names %q, %q", a, b)
	}
}

// events builds a history from lines "id<previous type name".
func events(t *testing.T, lines ...string) []event {
	t.Helper()
	var out []any
	for _, l := range lines {
		f := strings.Fields(l)
		id, previous, _ := strings.Cut(f[0], "<")
		e := `{"id":` + id + `,"previousEventId":` + previous + `,"type":"` + f[1] + `"`
		if len(f) > 2 {
			e += `,"details":{"name":"` + f[2] + `"}`
		}
		out = append(out, value(t, e+"}"))
	}
	return eventsOf(out)
}

func TestHistoriesOfBranchesCompareAsTrees(t *testing.T) {
	t.Parallel()
	want := []string{
		"1<0 ExecutionStarted", "2<0 ParallelStateEntered", "3<2 ParallelStateStarted",
		"4<3 PassStateEntered A", "5<3 PassStateEntered B", "6<5 PassStateExited B", "7<4 PassStateExited A",
		"8<7 ParallelStateSucceeded", "9<7 ParallelStateExited",
	}
	other := []string{
		"1<0 ExecutionStarted", "2<0 ParallelStateEntered", "3<2 ParallelStateStarted",
		"4<3 PassStateEntered A", "5<4 PassStateExited A", "6<3 PassStateEntered B", "7<6 PassStateExited B",
		"8<7 ParallelStateSucceeded", "9<5 ParallelStateExited",
	}
	if d := newUnifier().histories(events(t, want...), events(t, other...)); d != nil {
		t.Errorf("another interleaving: %v", d)
	}
	for what, change := range map[string]func([]string){
		"another name":  func(l []string) { l[5] = "6<3 PassStateEntered C" },
		"another chain": func(l []string) { l[6] = "7<4 PassStateExited B" },
		"numbering":     func(l []string) { l[6] = "9<6 PassStateExited B" },
		"another end":   func(l []string) { l[8] = "9<5 PassStateExited" },
	} {
		changed := append([]string{}, other...)
		change(changed)
		if d := newUnifier().histories(events(t, want...), events(t, changed...)); d == nil {
			t.Errorf("%s makes no difference", what)
		}
	}
	if d := newUnifier().histories(events(t, want...), events(t, other[:8]...)); d == nil {
		t.Error("a missing event makes no difference")
	}
}

func TestHistoriesWithoutBranchesCompareInOrder(t *testing.T) {
	t.Parallel()
	want := events(t, "1<0 ExecutionStarted", "2<0 PassStateEntered A", "3<2 PassStateExited A")
	got := events(t, "1<0 ExecutionStarted", "2<0 PassStateEntered A", "3<1 PassStateExited A")
	d := newUnifier().histories(want, got)
	if len(d) != 1 || d[0].String() != "events[3].PassStateExited.previousEventId: want 2, got 1" {
		t.Errorf("%v", d)
	}
}

func TestUnorderedEventsCompareAsABag(t *testing.T) {
	t.Parallel()
	want := events(t, "1<0 ExecutionStarted", "[0]<0 PassStateEntered A", "[0]<0 PassStateEntered B",
		"6<5 ExecutionSucceeded")
	got := events(t, "1<0 ExecutionStarted", "2<1 PassStateEntered B", "3<1 PassStateEntered A",
		"4<3 ParallelStateSucceeded", "5<3 ParallelStateExited", "6<4 ExecutionSucceeded")
	if d := newUnifier().histories(want, got); d != nil {
		t.Errorf("%v", d)
	}
	got[1]["details"] = map[string]any{"name": "A"}
	if d := newUnifier().histories(want, got); len(d) != 2 {
		t.Errorf("two differences expected: %v", d)
	}
}

func TestDriftOfMapStateExited(t *testing.T) {
	t.Parallel()
	old := events(t, "1<0 MapStateEntered", "2<1 MapRunStarted", "3<2 MapRunSucceeded", "4<3 MapStateExited")
	now := events(t, "1<0 MapStateEntered", "2<1 MapRunStarted", "3<2 MapRunSucceeded", "4<2 MapStateExited")
	if d := newUnifier("MapStateExited.previousEventId").histories(old, now); d != nil {
		t.Errorf("with drift: %v", d)
	}
	if d := newUnifier().histories(old, now); d == nil {
		t.Error("no difference without drift")
	}
}

func TestJudgeLevels(t *testing.T) {
	t.Parallel()
	succeeded := `{"id":2,"previousEventId":1,"type":"ExecutionSucceeded","executionSucceededEventDetails":{"output":{"a":1},"outputDetails":{"truncated":false}}}`
	recorded := &Step{Op: "GetExecutionHistory",
		Check: []Check{{Value: value(t, `{"events":[{"id":1,"type":"X"},`+succeeded+`]}`)}}}
	for got, levels := range map[string][2]int{
		`{"events":[{"id":1,"type":"X"},` + succeeded +
			`]}`: {0, 0},
		`{"events":[{"id":1,"type":"Y"},` + succeeded +
			`]}`: {0, 1},
		`{"events":[{"id":1,"type":"X"},{"type":"ExecutionSucceeded","executionSucceededEventDetails":{"output":{"a":1}}}]}`: {0, 1},
		`{"events":[{"id":1,"type":"X"},{"id":2,"previousEventId":1,"type":"ExecutionFailed"}]}`:                             {1, 1},
	} {
		j := NewJudge(&Case{}, &Names{})
		if !j.Judge(recorded, &Answer{Result: value(t, got).(map[string]any)}) {
			t.Error("the run must go on")
		}
		if len(j.Outcome) != levels[0] || len(j.History) != levels[1] {
			t.Errorf("%s: %d and %d differences, want %v: %v", got, len(j.Outcome), len(j.History), levels, j.Verdict)
		}
	}
}

func TestJudgeErrors(t *testing.T) {
	t.Parallel()
	refused := &Step{Op: "StartExecution", Error: true, Check: []Check{
		{Value: map[string]any{"Error": map[string]any{"Code": "C", "Message": "m ⟦*⟧"}}},
		{Exception: &struct{ Type, Text string }{"C",
			"An error occurred (C) when calling the StartExecution operation: m 1"}},
	}}
	for _, c := range []struct {
		answer           Answer
		outcome, history int
	}{
		{Answer{Code: "C", Message: "m 1"}, 0, 0},
		{Answer{Code: "C", Message: "n"}, 0, 2},
		{Answer{Code: "D", Message: "m 1"}, 2, 2},
		{Answer{}, 1, 1},
	} {
		j := NewJudge(&Case{}, &Names{})
		j.Judge(refused, &c.answer)
		if len(j.Outcome) != c.outcome || len(j.History) != c.history {
			t.Errorf("%+v: %v", c.answer, j.Verdict)
		}
	}
}
