package wire_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/engine/internal/wire"
)

func TestMembersReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, number := rapid.String().Draw(t, "text"), rapid.Int64().Draw(t, "number")
		count, fixed := rapid.Uint64().Draw(t, "count"), rapid.Uint64().Draw(t, "fixed")
		at := time.Unix(0, rapid.Int64Min(1).Draw(t, "at")).UTC()
		flag := rapid.Bool().Draw(t, "flag")
		var w wire.Writer
		w.Text(text)
		w.Varint(number)
		w.Uvarint(count)
		w.Fixed(fixed)
		w.Time(at)
		w.Time(time.Time{})
		w.Flags(flag, !flag)
		w.Byte(7)
		r := wire.NewReader(w.Bytes)
		var a, b bool
		if got := r.Text(); got != text {
			t.Fatalf("text %q, want %q", got, text)
		}
		if n, c, f := r.Varint(), r.Uvarint(), r.Fixed(); n != number || c != count || f != fixed {
			t.Fatalf("numbers %d %d %d, want %d %d %d", n, c, f, number, count, fixed)
		}
		if got, none := r.Time(), r.Time(); got != at || !none.IsZero() {
			t.Fatalf("times %s and %s, want %s and none", got, none, at)
		}
		if r.Flags(&a, &b); a != flag || b == flag {
			t.Fatalf("flags %t %t, want %t %t", a, b, flag, !flag)
		}
		if got := r.Byte(); got != 7 || r.More() || r.Bad() {
			t.Fatalf("last byte %d, more %t, bad %t", got, r.More(), r.Bad())
		}
	})
}

func TestTextLike(t *testing.T) {
	t.Parallel()
	var w wire.Writer
	texts := []string{"same", "same", "some", "", "longer", "same"}
	for _, text := range texts {
		w.Text(text)
	}
	r := wire.NewReader(w.Bytes)
	for i, text := range texts {
		if got := r.TextLike("same"); got != text {
			t.Errorf("text %d: %q, want %q", i, got, text)
		}
	}
	if r.More() || r.Bad() {
		t.Errorf("more %t, bad %t", r.More(), r.Bad())
	}
}

func TestWhatIsCutShortIsBad(t *testing.T) {
	t.Parallel()
	var w wire.Writer
	w.Text("a text")
	for name, read := range map[string]func(*wire.Reader){
		"text":    func(r *wire.Reader) { r.Text() },
		"like":    func(r *wire.Reader) { r.TextLike("a text") },
		"count":   func(r *wire.Reader) { r.Count(); r.Count() },
		"fixed":   func(r *wire.Reader) { r.Fixed() },
		"varint":  func(r *wire.Reader) { _, _ = r.Text(), r.Varint() },
		"uvarint": func(r *wire.Reader) { _, _ = r.Text(), r.Uvarint() },
		"byte":    func(r *wire.Reader) { _, _ = r.Text(), r.Byte() },
	} {
		r := wire.NewReader(w.Bytes[:len(w.Bytes)-1])
		if read(&r); !r.Bad() || r.More() || r.Text() != "" {
			t.Errorf("%s: bad %t, more %t", name, r.Bad(), r.More())
		}
	}
}
