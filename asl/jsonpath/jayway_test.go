package jsonpath_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"stepback/asl/jsonpath"
	"stepback/internal/recordings"
	"stepback/jsonvalue"
)

// conformanceFile reads a file of the recordings.
func conformanceFile(t *testing.T, name string) []byte {
	t.Helper()
	from, err := recordings.FS()
	if err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile(from, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// jaywayError formats an error as Java prints the corresponding Jayway exception.
func jaywayError(err error) string {
	if e, ok := errors.AsType[*jsonpath.SyntaxError](err); ok {
		return "InvalidPathException: " + e.Message
	}
	if e, ok := errors.AsType[*jsonpath.NotFoundError](err); ok {
		return "PathNotFoundException: " + e.Message
	}
	return "JsonPathException: " + err.Error()
}

func TestAnswersOfJayway(t *testing.T) {
	t.Parallel()
	doc := must(t, string(conformanceFile(t, "jsonpath/doc.json")))
	lines := bufio.NewScanner(strings.NewReader(string(conformanceFile(t, "jsonpath/jayway.jsonl"))))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			Path     string
			Definite *bool
			V        json.RawMessage
			Err      string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		p, err := jsonpath.Compile(c.Path)
		if err != nil {
			if got := jaywayError(err); got != c.Err || c.Definite != nil {
				t.Errorf("%s: %s, want %s", c.Path, got, c.Err)
			}
			continue
		}
		if c.Definite == nil || *c.Definite != p.Definite() {
			t.Errorf("%s: Definite() = %v", c.Path, p.Definite())
		}
		v, err := p.Eval(doc)
		switch {
		case err != nil:
			if got := jaywayError(err); got != c.Err {
				t.Errorf("%s:\n got %s\nwant %s", c.Path, got, c.Err)
			}
		case c.Err != "":
			t.Errorf("%s = %s, want %s", c.Path, v.JSON(), c.Err)
		case v.JSON() != must(t, string(c.V)).JSON():
			t.Errorf("%s:\n got %s\nwant %s", c.Path, v.JSON(), c.V)
		}
	}
}

func must(t testing.TB, s string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
