package itemreader

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"stepback/jsonvalue"
)

// FuzzCSV checks that the fast path and the path for escapes agree, that skipping consumes the same as reading, and
// that nothing panics, however the text is split into pieces.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\"a\"\"\",\\,\n", "\r\n\n,,\r\n", "\"x\n", "a\\", "\"\\\"\"",
		"\xff,\x00\n"} {
		f.Add(seed, byte(','))
	}
	f.Fuzz(func(t *testing.T, text string, delimiter byte) {
		if strings.IndexByte(",|; \t", delimiter) < 0 {
			return
		}
		open := func(r io.Reader) *csvRows {
			return &csvRows{w: newWindow(r, 1<<10), where: "f", delimiter: delimiter}
		}
		whole, bytewise, skipping := open(strings.NewReader(text)), open(iotest.OneByteReader(strings.NewReader(text))),
			open(strings.NewReader(text))
		for {
			plain := isPlain(whole)
			other := *whole
			other.fields, other.text, other.ends, other.w.buf = nil, nil, nil, slices.Clone(whole.w.buf)
			fields, err := whole.read()
			if plain && err == nil {
				escaped, err := other.readEscaped()
				if err != nil || !slices.Equal(fields, escaped) || other.w.base != whole.w.base {
					t.Fatalf("short path %q, long path %q, %v", fields, escaped, err)
				}
			}
			again, err2 := bytewise.read()
			if (err == nil) != (err2 == nil) || !slices.Equal(fields, again) {
				t.Fatalf("whole %q %v, byte by byte %q %v", fields, err, again, err2)
			}
			if err != nil {
				return
			}
			if err := skipping.skip(); err != nil || skipping.w.base != whole.w.base ||
				skipping.w.line != whole.w.line {
				t.Fatalf("skip: %v at %d, want %d", err, skipping.w.base, whole.w.base)
			}
		}
	})
}

// FuzzCSVText checks that rows read as text equal their values converted to text.
func FuzzCSVText(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "a\n\"x\"\"\",y\n", "a,b,c\n1\n1,2,3,4\n\x01,\t,\x7f\n", "甲\n\xff\n", "a\n\\\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := readAll(t.Context(), memoryObjects{"f": text}, csvConfig()); err != nil &&
			strings.HasPrefix(err.Error(), "values ") {
			t.Error(err)
		}
	})
}

// isPlain reports whether the next line is one that the fast path reads, and not blank.
func isPlain(c *csvRows) bool {
	n, err := c.w.newline(0)
	line := c.w.view()[:n]
	return (err == nil || err == io.EOF) && len(dropReturn(line)) > 0 && !strings.ContainsAny(string(line), `"\`)
}

// FuzzJSON compares the streaming reader with the parser on the whole document.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`[1,{"a":[2]},"x"]`, `[]`, ` [ "\"]" , -1e5 ] `, `[1,]`, `[[`, `{"a":1}`, `[tru]`,
		`["\u00e9"`, `[1]]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, parseErr := jsonvalue.Parse(strings.TrimPrefix(text, "\ufeff"))
		cfg := Config{InputType: "JSON"}
		r, err := newRecords(&cfg, iotest.OneByteReader(strings.NewReader(text)), "f")
		var items []jsonvalue.Value
		for err == nil {
			var item Item
			if item, err = r.next(); err == nil {
				items = append(items, item.Value)
			}
		}
		if !errors.Is(err, io.EOF) {
			var typed *Error
			if !errors.As(err, &typed) {
				t.Fatalf("untyped error %v", err)
			}
			if parseErr == nil && want.Kind() == jsonvalue.Array {
				t.Fatalf("refused a good array: %v", err)
			}
			return
		}
		if parseErr != nil && !strings.Contains(parseErr.Error(), "nesting") {
			t.Fatalf("accepted what the parser refuses: %v", parseErr)
		}
		if got := jsonvalue.OfArray(items); parseErr == nil && got.JSON() != want.JSON() {
			t.Fatalf("got %s, want %s", got.JSON(), want.JSON())
		}
	})
}
