package console

import (
	"os"
	"strings"
	"testing"

	"stepback/engine/graph"
)

func TestRedaction(t *testing.T) {
	t.Parallel()
	r := newRedaction([]string{"password", "$.customer.card", "$.items.*.pin"})
	for in, want := range map[string]string{
		`{"password":"x","a":[{"password":{"b":1}}]}`:        `{"password":"(hidden)","a":[{"password":"(hidden)"}]}`,
		`{"customer":{"card":"4111","name":"n"},"card":"1"}`: `{"customer":{"card":"(hidden)","name":"n"},"card":"1"}`,
		`{"items":{"a":{"pin":1},"b":{"pin":2}}}`:            `{"items":{"a":{"pin":"(hidden)"},"b":{"pin":"(hidden)"}}}`,
		`{"body":"{\"password\":\"x\"}"}`:                    `{"body":"{\"password\":\"(hidden)\"}"}`,
		`[1,2]`:                                              `[1,2]`,
		`no JSON, password=x`:                                `(hidden)`,
		``:                                                   ``,
	} {
		if got := r.text(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := r.cause("words stay"); got != "words stay" {
		t.Error(got)
	}
	none := newRedaction(nil)
	if got := none.text(`{"password":"x"}`); got != `{"password":"x"}` {
		t.Error(got)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, l := range diff("a\nb\nc\nd\ne\nf\ng\nh", "a\nb\nc\nd\ne\nF\ng\nh\ni") {
		got.WriteString(l.Kind + l.Text + "\n")
	}
	if want := "@⋯\n c\n d\n e\n-f\n+F\n g\n h\n+i\n"; got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if diff("a\nb", "a\nb") != nil {
		t.Error("equal texts differ")
	}
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1s x2 6 max 60s full": `{"ErrorEquals":["States.ALL"],"IntervalSeconds":1,"MaxAttempts":6,"BackoffRate":2,"MaxDelaySeconds":60,"JitterStrategy":"FULL"}`,
		"5s ×1.5 10 max 2m":    `{"ErrorEquals":["States.ALL"],"IntervalSeconds":5,"MaxAttempts":10,"BackoffRate":1.5,"MaxDelaySeconds":120}`,
		"0":                    `{"ErrorEquals":["States.ALL"],"MaxAttempts":0}`,
	} {
		p, err := parsePolicy(text)
		if got := retrierJSON(p); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "x0.5", "1ms", "max", "often", "99999", "-1"} {
		if p, err := parsePolicy(bad); err == nil {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

// The pages use the same style sheet for graphs as package graph.
func TestStyleSheetOfGraphs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("assets/graph.css")
	if err != nil || string(text) != graph.StyleSheet+"\n" {
		t.Errorf("assets/graph.css is not graph.StyleSheet: %v", err)
	}
}

func TestBack(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		Path + "machines?x=1": Path + "machines?x=1", "//evil.example": Path, "https://evil.example": Path,
		Path + "\\evil": Path, "": Path,
	} {
		if got := back(address); got != want {
			t.Errorf("%q: %q", address, got)
		}
	}
}
