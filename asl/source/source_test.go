package source_test

import (
	"fmt"
	"testing"

	"stepback/asl/source"
	"stepback/jsonvalue"
)

func ExampleIndex() {
	text := "{\n  \"States\": {\"集計\": [1, {\"Type\": true}]}\n}"
	index, lines := source.NewIndex(text), source.NewLines(text)
	path := source.Path{source.Member("States"), source.Member("集計"), source.Element(1), source.Member("Type")}
	span := index.Value(path)
	fmt.Println(path, lines.Position(span.Start), text[span.Start:span.End])
	// Output: /States/集計[1]/Type {2 33} true
}

func TestIndexFindsKeysAndValues(t *testing.T) {
	t.Parallel()
	text := ` {"a\u0062": "x\"]", "c": [ -1.5e3 , {"d": null} ], "e": {}, "e": {"f": false}} `
	index := source.NewIndex(text)
	for _, c := range []struct {
		path       source.Path
		key, value string
	}{
		{nil, text[1 : len(text)-1], text[1 : len(text)-1]},
		{source.Path{source.Member("ab")}, `"a\u0062"`, `"x\"]"`},
		{source.Path{source.Member("c"), source.Element(0)}, `-1.5e3`, `-1.5e3`},
		{source.Path{source.Member("c"), source.Element(1), source.Member("d")}, `"d"`, `null`},
		{source.Path{source.Member("e"), source.Member("f")}, `"f"`, `false`},
		{source.Path{source.Member("e"), source.Member("missing")}, `{"f": false}`, `{"f": false}`},
		{source.Path{source.Member("c"), source.Element(7)}, `[ -1.5e3 , {"d": null} ]`, `[ -1.5e3 , {"d": null} ]`},
		{source.Path{source.Member("c"), source.Member("0")}, `[ -1.5e3 , {"d": null} ]`, `[ -1.5e3 , {"d": null} ]`},
	} {
		key, value := index.Key(c.path), index.Value(c.path)
		if text[key.Start:key.End] != c.key || text[value.Start:value.End] != c.value {
			t.Errorf("%s: key %s, value %s", c.path, text[key.Start:key.End], text[value.Start:value.End])
		}
	}
}

func TestRepeatedNames(t *testing.T) {
	t.Parallel()
	text := `{"a": 1, "b": [{"c": 1, "c": 2}], "a": 3, "a": 4}`
	var got []string
	source.NewIndex(text).Repeated(func(object source.Path, name string, key source.Span) {
		got = append(got, fmt.Sprintf("%s %s %d", object, name, key.Start))
	})
	if want := "[/b[0] c 24 / a 34 / a 42]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	text := "aé\r\n\n集x"
	lines := source.NewLines(text)
	for offset, want := range map[int]source.Position{
		-1: {1, 1}, 0: {1, 1}, 1: {1, 2}, 3: {1, 3}, 5: {2, 1}, 6: {3, 1}, 9: {3, 2}, len(text): {3, 3}, 99: {3, 3},
	} {
		if got := lines.Position(offset); got != want {
			t.Errorf("offset %d: %v, want %v", offset, got, want)
		}
	}
}

func TestExcerpts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text         string
		span         source.Span
		line, carets string
	}{
		{"ab\n\tcd ef\r\ngh", source.Span{Start: 7, End: 9}, "\tcd ef", "\t   ^^"},
		{"集計 x", source.Span{Start: 7, End: 8}, "集計 x", "     ^"},
		{"集計 x", source.Span{Start: 0, End: 6}, "集計 x", "^^^^"},
		{"e\u0301x", source.Span{Start: 3, End: 4}, "e\u0301x", " ^"},
		{"abc", source.Span{Start: 3, End: 3}, "abc", "   ^"},
		{"abc\ndef", source.Span{Start: 1, End: 7}, "abc", " ^^"},
		{"", source.Span{Start: 5, End: 9}, "", "^"},
		{"\x1b[31m\x00\x7f\u0085\xff x", source.Span{Start: 9, End: 10}, "�[31m���� x", "        ^"},
	} {
		line, carets := source.NewLines(c.text).Excerpt(c.span)
		if line != c.line || carets != c.carets {
			t.Errorf("%q %v: got %q %q", c.text, c.span, line, carets)
		}
	}
}

func TestOffsetsOfPositions(t *testing.T) {
	t.Parallel()
	lines := source.NewLines("aé\r\n\n集")
	for p, want := range map[source.Position]int{
		{1, 1}: 0, {1, 3}: 3, {1, 9}: 3, {2, 1}: 5, {2, 2}: 5, {3, 2}: 9, {4, 1}: 9, {0, 0}: 0,
	} {
		if got := lines.Offset(p); got != want {
			t.Errorf("%v: %d, want %d", p, got, want)
		}
	}
}

// The index agrees with the JSON parser on every valid text and does not panic on any other.
func FuzzIndex(f *testing.F) {
	for _, seed := range []string{`{"a": [1, "\"", {"b": null}], "a": {}}`, `[`, `{"a" 1}`, `"`, `{"\`, "\xff",
		`[[],{}]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		index, lines := source.NewIndex(text), source.NewLines(text)
		lines.Excerpt(index.Value(nil))
		v, err := jsonvalue.Parse(text)
		if err != nil {
			return
		}
		agree(t, text, index, nil, v)
	})
}

func agree(t *testing.T, text string, index *source.Index, path source.Path, v jsonvalue.Value) {
	t.Helper()
	span := index.Value(path)
	again, err := jsonvalue.Parse(text[span.Start:span.End])
	if err != nil || again.JSON() != v.JSON() {
		t.Fatalf("%s of %q is %q, %v", path, text, text[span.Start:span.End], err)
	}
	for i, e := range v.Elements() {
		step := source.Element(i)
		if v.Kind() == jsonvalue.Object {
			step = source.Member(v.Keys()[i])
		}
		agree(t, text, index, path.Join(step), e)
	}
}
