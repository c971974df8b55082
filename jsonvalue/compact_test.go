package jsonvalue_test

import (
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"stepback/jsonvalue"
)

// A compact text yields the same value as Parse, whichever operation is applied, and is written as the same text.
func TestParseCompact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := compactText(t, 3)
		want, err := jsonvalue.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsonvalue.ParseCompact(text)
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.IntRange(0, 2*len(text)).Draw(t, "limit")
		for _, opened := range []string{"before it is opened", "after it was opened"} {
			upTo, fits := got.JSONUpTo(limit)
			if got.JSON() != text || fits != (len(text) <= limit) || fits && upTo != text ||
				got.FitsIn(limit) != fits {
				t.Fatalf("%s %s: %s, up to %d: %v %s", text, opened, got.JSON(), limit, fits, upTo)
			}
			if !jsonvalue.Equal(got, want) || string(got.AppendJava(nil)) != string(want.AppendJava(nil)) {
				t.Fatalf("%s is not the same value %s", text, opened)
			}
		}
		with := jsonvalue.NewObject(1)
		with.Set("a", got)
		if changed := got.With("more", with.Value()); changed.JSON() != want.With("more", with.Value()).JSON() {
			t.Fatalf("changed: %s", changed.JSON())
		}
	})
}

// compactText generates the text of a value with long parts.
func compactText(t *rapid.T, depth int) string {
	v := jsonvalue.OfString(rapid.StringMatching(`[a-c"\\\[\]{},:あ]{0,8}`).Draw(t, "text") +
		strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "more")))
	for range depth {
		b := jsonvalue.NewObject(4)
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e"]{1,3}`), 1, 4, rapid.ID).Draw(t, "names") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				b.Set(name, v)
			case 1:
				b.Set(name, jsonvalue.OfArray([]jsonvalue.Value{v, jsonvalue.OfInt(1), v}))
			case 2:
				b.Set(name, jsonvalue.OfNumberText("1.50"))
			default:
				b.Set(name, jsonvalue.OfArray(nil))
			}
		}
		v = b.Value()
	}
	return v.JSON()
}

func TestCompactPartsAreOpenedByManyAtOnce(t *testing.T) {
	t.Parallel()
	v, err := jsonvalue.ParseCompact(`{"a":[` + strings.Repeat(`"x",`, 500) + `1]}`)
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			if a, _ := v.Get("a"); a.Len() != 501 || a.At(500).Text() != "1" {
				t.Errorf("%d elements", a.Len())
			}
		})
	}
	readers.Wait()
}

func TestParseCompactRefusesWhatIsCut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"a":[` + strings.Repeat(`"x",`, 500), `{"a":1}x`, `{"a":"` + strings.Repeat("x", 900)} {
		if _, err := jsonvalue.ParseCompact(text); err == nil {
			t.Errorf("%.20s… is read", text)
		}
	}
}
