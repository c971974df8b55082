package pipeline_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"

	"stepback/csvimport/pipeline"
)

const japaneseHeader = "ユーザーID,ログイン回数,投稿回数"

func shiftJIS(t *testing.T, s string) string {
	t.Helper()
	out, err := japanese.ShiftJIS.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFormsOfAFile imports the same rows in every form that is accepted.
func TestFormsOfAFile(t *testing.T) {
	t.Parallel()
	rows := activities(250, 50)
	for i := range rows {
		rows[i].user = "利用者" + rows[i].user
	}
	tabs := func(s string) string { return strings.ReplaceAll(s, ",", "\t") }
	semicolons := func(s string) string { return strings.ReplaceAll(s, ",", ";") }
	for name, content := range map[string]string{
		"UTF-8":            text(header, ",", "\n", rows),
		"BOM":              "\ufeff" + text(header, ",", "\n", rows),
		"CRLF":             text(header, ",", "\r\n", rows),
		"BOM and CRLF":     "\ufeff" + text(japaneseHeader, ",", "\r\n", rows),
		"no final newline": strings.TrimSuffix(text(header, ",", "\n", rows), "\n"),
		"Japanese header":  text(japaneseHeader, ",", "\n", rows),
		"Shift_JIS":        shiftJIS(t, text(japaneseHeader, ",", "\r\n", rows)),
		"Shift_JIS tabs":   shiftJIS(t, text(tabs(japaneseHeader), "\t", "\n", rows)),
		"tabs":             text(tabs(header), "\t", "\n", rows),
		"semicolons":       text(semicolons(header), ";", "\n", rows),
		"full-width":       text("ｕｓｅｒ＿ｉｄ,LOGIN_COUNT, post_count ", ",", "\n", rows),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, "利用 2026.csv", content)
			r := tr.run(t, false)
			ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
			tr.accounts(t, r, rows)
			if r.Rows.Rejected != 5 || r.Rows.Applied != 245 {
				t.Errorf("%+v", *r.Rows)
			}
			want := pipeline.File{Encoding: "UTF-8", Delimiter: "comma"}
			switch {
			case strings.HasPrefix(content, "\ufeff"):
				want.Encoding += " with BOM"
			case strings.HasPrefix(name, "Shift_JIS"):
				want.Encoding = "Shift_JIS"
			}
			switch {
			case strings.HasSuffix(name, "tabs"):
				want.Delimiter = "tab"
			case name == "semicolons":
				want.Delimiter = "semicolon"
			}
			if r.File == nil || *r.File != want {
				t.Errorf("the file is %+v, want %+v", r.File, want)
			}
		})
	}
}

// TestBadFiles imports files with one defect each: every import ends without damage, and its cause describes the
// defect and its place.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	const long = 10 << 20
	for name, test := range map[string]struct {
		content string
		status  string
		failure string
		cause   []string
		users   counts
		counts  pipeline.Rows
	}{
		"empty": {
			"", "FAILED", "CSVFileEmpty", []string{"is empty (0 bytes): upload a file with a header and rows"},
			counts{}, pipeline.Rows{},
		},
		"only a header": {
			header + "\n", "SUCCEEDED", "", nil, counts{}, pipeline.Rows{},
		},
		"only blank lines": {
			"\n\n\r\n", "FAILED", "CSVFileEmpty", []string{"upload a file with a header"}, counts{}, pipeline.Rows{},
		},
		"binary": {
			"\x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe\x00\x00", "FAILED", "CSVFileBinary", nil, counts{},
			pipeline.Rows{},
		},
		"a picture": {
			"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "FAILED", "CSVFileBinary", nil, counts{}, pipeline.Rows{},
		},
		"Latin-1": {
			header + "\njos\xe9 garc\xeda,1,2\n", "FAILED", "CSVEncodingUnsupported", []string{"line 2"}, counts{},
			pipeline.Rows{},
		},
		"UTF-8 with one damaged byte": {
			header + "\n田中,1,2\n鈴木,3,4\n\xe4\xb8,5,6\n佐藤,7,8\n", "FAILED", "CSVEncodingUnsupported",
			[]string{"line 4, byte 53 (0xE4) is not UTF-8, but line 2 is"}, counts{}, pipeline.Rows{},
		},
		"UTF-8 that was cut off": {
			header + "\n田中,1,2\n鈴木,3,4\n佐\xe8\x97", "FAILED", "CSVEncodingUnsupported",
			[]string{"line 4, byte 56 (0xE8) is not a whole character of UTF-8, and the file ends there"}, counts{},
			pipeline.Rows{},
		},
		"duplicate header": {
			"user_id,login_count,login_count\nanna,1,2\n", "FAILED", "CSVHeaderInvalid",
			[]string{"login_count occurs twice, in columns 2 and 3", "post_count is missing"}, counts{},
			pipeline.Rows{},
		},
		"no header": {
			"anna,1,2\nbert,3,4\n", "FAILED", "CSVHeaderInvalid", []string{"put a header row above it"}, counts{},
			pipeline.Rows{},
		},
		"ragged rows": {
			header + "\nanna,1,2\nbert,3\ncarl,5,6,7\n\ndora,8,9\nemil,1,1\n", "FAILED",
			"ToleratedFailurePercentageExceeded",
			[]string{"2 rejected and 0 dead-lettered of 5 rows"}, counts{"anna": {1, 2}, "dora": {8, 9},
				"emil": {1, 1}},
			pipeline.Rows{Total: 5, Applied: 3, Rejected: 2, FailedPercent: 40},
		},
		"every row bad": {
			header + "\nanna,x,2\nbert,y,2\n", "FAILED", "ValidationError",
			[]string{"none of the 2 rows can be imported; the first problem is in line 2", `login_count`}, counts{},
			pipeline.Rows{},
		},
		"a line of 10 MB": {
			header + "\nanna,1,2\n" + strings.Repeat("x", long) + ",3,4\nbert,5,6\n", "FAILED",
			"ToleratedFailurePercentageExceeded", nil,
			counts{"anna": {1, 2}, "bert": {5, 6}}, pipeline.Rows{Total: 3, Applied: 2, Rejected: 1,
				FailedPercent: 100.0 / 3},
		},
		"an open quote": {
			header + "\nanna,1,2\n\"bert,3,4\ncarl,5,6\n", "FAILED", "ToleratedFailurePercentageExceeded", nil,
			counts{"anna": {1, 2}, "carl": {5, 6}}, pipeline.Rows{Total: 3, Applied: 2, Rejected: 1,
				FailedPercent: 100.0 / 3},
		},
		"a NUL byte in a row": {
			header + "\nanna,1,2\nbe\x00rt,3,4\ncarl,5,6\n", "FAILED", "ToleratedFailurePercentageExceeded", nil,
			counts{"anna": {1, 2}, "carl": {5, 6}}, pipeline.Rows{Total: 3, Applied: 2, Rejected: 1,
				FailedPercent: 100.0 / 3},
		},
		"counts out of range": {
			header + "\nanna,9223372036854775807,2\nanna,1,1\nbert,9223372036854775808,1\ncarl,-1,1\ndora,1.5,1\nemil,1,1\n", "FAILED",
			"ToleratedFailurePercentageExceeded", nil, counts{"anna": {9223372036854775807, 2}, "emil": {1, 1}},
			pipeline.Rows{Total: 6, Applied: 2, Rejected: 4, FailedPercent: 400.0 / 6},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, "activity.csv", test.content)
			tr.cfg.Concurrency, tr.cfg.Batch = 1,
				1 // one row at a time: which of two rows overflows a counter depends on their order
			r := tr.run(t, false)
			want := pipeline.NeedsPerson
			if test.failure == "" {
				want = pipeline.Complete
			}
			ended(t, r, test.status, test.failure, want)
			for _, part := range test.cause {
				if !strings.Contains(r.Cause, part) {
					t.Errorf("the cause lacks %q: %s", part, r.Cause)
				}
			}
			if r.Rows == nil && test.counts.Total > 0 || r.Rows != nil && *r.Rows != test.counts {
				t.Errorf("rows are %+v, want %+v", r.Rows, test.counts)
			}
			tr.sameUsers(t, test.users)
			// The result for the same file stays the same.
			if again := tr.run(t, false); !again.Earlier || again.Error != r.Error {
				t.Errorf("the second time: %+v", again)
			}
		})
	}
}

func TestWhatIsNoFile(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, "activity.csv", "")
	p := tr.open(t)
	defer closed(t, p)
	for name, want := range map[string]string{
		tr.cfg.Dir: tr.cfg.Dir +
			" is a directory, a pipe or a device, which cannot be read twice: name a CSV file",
		tr.file + ".missing": "open " + tr.file + ".missing: no such file or directory",
	} {
		if _, err := p.Import(t.Context(), name, false, nil); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
