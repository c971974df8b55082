package validate_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/objectstest"
	"stepback/csvimport/validate"
	"stepback/statemachine"
)

const head = "user_id,login_count,post_count\n"

func input(source csvimport.Source) validate.Input {
	return validate.Input{Source: source, WorkBucket: "work", WorkPrefix: "runs/1/"}
}

func run(t *testing.T, objects csvimport.Objects, source csvimport.Source) validate.Output {
	t.Helper()
	out, err := (&validate.Validator{Objects: objects}).Validate(t.Context(), input(source))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCleanFileIsCopiedAsItIs(t *testing.T) {
	t.Parallel()
	var m objectstest.Memory
	source := m.Set(csvimport.Location{Bucket: "in", Key: "a.csv"}, head+"u1,1,2\nu2,3,4\n", "text/csv")
	got, err := json.Marshal(run(t, &m, source))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"valid":true,"rows":2,"encoding":"UTF-8","delimiter":"comma","normalised":false,"data":{"bucket":"work","key":"runs/1/validated-d04a6aa94e55850270486431.csv","letters":"row:a-csv-7452f5ff2bf798fe1e429da2292716c8"},"problemCount":0,"problemRows":0,"problems":[],"part":{"offset":{"rows":0,"lines":0}}}`
	if string(got) != want {
		t.Errorf("output is\n%s\nwant\n%s", got, want)
	}
	if copied, _ := m.Content(csvimport.Location{Bucket: "work",
		Key: "runs/1/validated-d04a6aa94e55850270486431.csv"}); copied != head+"u1,1,2\nu2,3,4\n" {
		t.Errorf("the copy is %q", copied)
	}
	if m.Gets() != 1 {
		t.Errorf("the file was read %d times, want once", m.Gets())
	}
}

func TestHeaderOnly(t *testing.T) {
	t.Parallel()
	var m objectstest.Memory
	out := run(t, &m, m.Set(csvimport.Location{Bucket: "in", Key: "a.csv"}, head, ""))
	if !out.Valid || out.Rows != 0 || out.Normalised {
		t.Errorf("output is %+v, want valid, 0 rows, not normalised", out)
	}
}

func TestNormalisedCopy(t *testing.T) {
	t.Parallel()
	content, err := japanese.ShiftJIS.NewEncoder().String("投稿回数;ユーザーID;ログイン回数\r\n2;表示,1;1\r\n\r\n-3;u2;x\r\n")
	if err != nil {
		t.Fatal(err)
	}
	var m objectstest.Memory
	source := m.Set(csvimport.Location{Bucket: "in", Key: "a.csv"}, content, "")
	out := run(t, &m, source)
	if !out.Valid || out.Rows != 2 || out.Encoding != csvfile.ShiftJIS || out.Delimiter != "semicolon" ||
		!out.Normalised || out.ProblemCount != 2 || out.ProblemRows != 1 {
		t.Errorf("output is %+v", out)
	}
	if out.Data.Bucket != "work" || !strings.HasPrefix(out.Data.Key, "runs/1/normalised-") {
		t.Errorf("the copy is %s", out.Data.Location)
	}
	got, _ := m.Content(out.Data.Location)
	want := `user_id,login_count,post_count,line,problem
"表示,1",1,2,2,
u2,x,-3,4,"login_count ""x"" is not a whole number: use the digits 0 to 9 only, without sign, separators or decimals; post_count -3 is negative: counts are added, so only 0 and more are allowed"
`
	if got != want {
		t.Errorf("the copy is\n%s\nwant\n%s", got, want)
	}
	if again := run(t, &m, source); again.Data != out.Data {
		t.Errorf("a repeat writes %s, the first time wrote %s", again.Data.Location, out.Data.Location)
	}
}

func TestLateShiftJIS(t *testing.T) {
	t.Parallel()
	var m objectstest.Memory
	content := head + strings.Repeat("u1,1,2\n", 20000) + "\x82\xA0,1,2\n"
	out := run(t, &m, m.Set(csvimport.Location{Bucket: "in", Key: "a.csv"}, content, ""))
	if out.Encoding != csvfile.ShiftJIS || out.Rows != 20001 || out.ProblemCount != 0 {
		t.Errorf("output is %+v", out)
	}
	copied, _ := m.Content(out.Data.Location)
	if !strings.HasSuffix(copied, "あ,1,2,20002,\n") {
		t.Errorf("the copy ends with %q", copied[len(copied)-40:])
	}
}

func TestNoRowCanBeImported(t *testing.T) {
	t.Parallel()
	var m objectstest.Memory
	out := run(t, &m, m.Set(csvimport.Location{Bucket: "in", Key: "a.csv"}, head+strings.Repeat("u1,x,2\n", 150), ""))
	want := `none of the 150 rows can be imported; the first problem is in line 2: login_count "x" is not a whole number: use the digits 0 to 9 only, without sign, separators or decimals`
	if out.Valid || out.Reason != want || out.ProblemCount != 150 || len(out.Problems) != 100 {
		t.Errorf("output is %+v", out)
	}
	if p := out.Problems[99]; p.Line != 101 || p.Column != "login_count" {
		t.Errorf("problem 100 is %+v, want line 101, column login_count", p)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	const limit = 100
	at := func(key string) csvimport.Location { return csvimport.Location{Bucket: "in", Key: key} }
	for name, test := range map[string]struct {
		set  func(m *objectstest.Memory) csvimport.Source
		want string
	}{
		"empty object": {
			func(m *objectstest.Memory) csvimport.Source { return m.Set(at("a.csv"), "", "") },
			"CSVFileEmpty: s3://in/a.csv is empty (0 bytes): upload a file with a header and rows",
		},
		"blank object": {
			func(m *objectstest.Memory) csvimport.Source { return m.Set(at("a.csv"), "\n\n", "") },
			"CSVFileEmpty: s3://in/a.csv: the object holds nothing but blank lines; upload a file with a header and rows",
		},
		"directory key": {
			func(*objectstest.Memory) csvimport.Source {
				return csvimport.Source{Bucket: "in", Key: "dir/", ETag: "e"}
			},
			"CSVKeyIsDirectory: s3://in/dir/ is a directory key, not a file: upload a CSV file under it",
		},
		"folder marker": {
			func(m *objectstest.Memory) csvimport.Source {
				return m.Set(at("dir"), "", "application/x-directory; charset=UTF-8")
			},
			"CSVKeyIsDirectory: s3://in/dir is a folder marker, not a file: upload a CSV file under it",
		},
		"name of a directory": {
			func(m *objectstest.Memory) csvimport.Source {
				m.Set(at("dir/a.csv"), head, "")
				return csvimport.Source{Bucket: "in", Key: "dir", ETag: "e"}
			},
			"CSVKeyIsDirectory: s3://in/dir is a directory (there are objects under dir/), not a file: name one of them",
		},
		"missing object": {
			func(*objectstest.Memory) csvimport.Source {
				return csvimport.Source{Bucket: "in", Key: "a.csv", ETag: "e"}
			},
			"CSVFileNotFound: s3://in/a.csv does not exist",
		},
		"changed object": {
			func(m *objectstest.Memory) csvimport.Source {
				old := m.Set(at("a.csv"), head, "")
				m.Set(at("a.csv"), head+"u,1,2\n", "")
				return old
			},
			"CSVFileChanged: s3://in/a.csv was replaced",
		},
		"too large": {
			func(m *objectstest.Memory) csvimport.Source {
				return m.Set(at("a.csv"), head+strings.Repeat("u,1,2\n", 50), "")
			},
			"CSVFileTooLarge: s3://in/a.csv has 331 bytes, the limit is 100: split the file, or raise the limit " +
				"(--max-bytes of stepback run, CSV_MAX_BYTES of the function)",
		},
		"binary": {
			func(m *objectstest.Memory) csvimport.Source { return m.Set(at("a.csv"), "\x89PNG\r\n\x1A\n\x00", "") },
			"CSVFileBinary: s3://in/a.csv: the object is a PNG image, not a CSV file: check the upload and upload the CSV",
		},
		"no etag": {
			func(*objectstest.Memory) csvimport.Source { return csvimport.Source{Bucket: "in", Key: "a.csv"} },
			`InvalidInput: the event lacks source.etag; expected "source":{"bucket":…,"key":…,"etag":…} of the uploaded object`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m objectstest.Memory
			_, err := (&validate.Validator{Objects: &m, MaxBytes: limit}).Validate(t.Context(), input(test.set(&m)))
			if err == nil || err.Error() != test.want {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

// unsized hides the size of objects, as a service may.
type unsized struct{ csvimport.Objects }

func (u unsized) Get(ctx context.Context, at csvimport.Location, etag string) (*csvimport.Object, error) {
	o, err := u.Objects.Get(ctx, at, etag)
	if err == nil {
		o.Size = -1
	}
	return o, err
}

func TestTooLargeWithoutContentLength(t *testing.T) {
	t.Parallel()
	var m objectstest.Memory
	source := m.Set(csvimport.Location{Bucket: "in", Key: "a.csv"}, head+strings.Repeat("u,1,2\n", 50), "")
	_, err := (&validate.Validator{Objects: unsized{&m}, MaxBytes: 100}).Validate(t.Context(), input(source))
	if err == nil || csvimport.AsFailure(err).Name != statemachine.CSVFileTooLarge {
		t.Errorf("error is %v, want CSVFileTooLarge", err)
	}
}
