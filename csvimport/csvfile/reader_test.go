package csvfile

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"stepback/csvimport"
)

const head = "user_id,login_count,post_count\n"

// shiftJIS encodes text.
func shiftJIS(t testing.TB, text string) string {
	t.Helper()
	encoded, err := japanese.ShiftJIS.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// rows reads a file to its end; each row is returned as "line user|logins|posts", followed by "!problem" for each
// problem.
func rows(t *testing.T, src io.Reader) ([]string, *Reader, error) {
	t.Helper()
	r, err := NewReader(src, "")
	if err != nil {
		return nil, nil, err
	}
	var got []string
	for {
		row, err := r.Next()
		if err == io.EOF {
			return got, r, nil
		}
		if err != nil {
			return got, r, err
		}
		line := strings.Join([]string{row.UserID, row.LoginCount, row.PostCount}, "|")
		if len(row.Problems) > 0 {
			line = "!" + csvimport.JoinProblems(row.Problems)
		}
		got = append(got, string(rune('0'+row.Line))+" "+line)
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxRowBytes+10)
	for name, test := range map[string]struct {
		file    string
		want    []string
		regular bool
	}{
		"canonical":              {head + "u1,1,2\nu2,3,4\n", []string{"2 u1|1|2", "3 u2|3|4"}, true},
		"header only":            {head, nil, true},
		"header without newline": {strings.TrimSpace(head), nil, true},
		"no final newline":       {head + "u1,1,2", []string{"2 u1|1|2"}, true},
		"non-ASCII id":           {head + "利用者,1,2\n", []string{"2 利用者|1|2"}, true},
		"quoted":                 {head + `"u,1",1,2` + "\n", []string{"2 u,1|1|2"}, true},
		"doubled quotes":         {head + `"u""1""",1,2` + "\n", []string{`2 u"1"|1|2`}, true},
		"blanks around":          {head + "  u1 ,\t1,2 \n", []string{"2   u1 |\t1|2 "}, true},
		"CRLF": {strings.ReplaceAll(head+"u1,1,2\nu2,3,4\n", "\n", "\r\n"),
			[]string{"2 u1|1|2", "3 u2|3|4"}, false},
		"CR": {strings.ReplaceAll(head+"u1,1,2\nu2,3,4\n", "\n", "\r"),
			[]string{"2 u1|1|2", "3 u2|3|4"}, false},
		"blank lines": {"\n\n" + head + "\nu1,1,2\n  \n\nu2,3,4\n\n", []string{"5 u1|1|2", "8 u2|3|4"},
			false},
		"quoted line breaks":   {head + "\"u\n\n1\",1,2\nu2,3,4\n", []string{"2 u\n\n1|1|2", "5 u2|3|4"}, false},
		"quoted CRLF":          {head + "\"u\r\n1\",1,2\nu2,3,4\n", []string{"2 u\r\n1|1|2", "4 u2|3|4"}, false},
		"backslash":            {head + `u\1,1,2` + "\n", []string{`2 u\1|1|2`}, false},
		"bare quote":           {head + `u"1,1,2` + "\n", []string{`2 u"1|1|2`}, false},
		"blanks after quote":   {head + `"u1" ,1,2` + "\n", []string{"2 u1|1|2"}, false},
		"BOM":                  {byteOrderMark + head + "u1,1,2\n", []string{"2 u1|1|2"}, false},
		"tab":                  {"user_id\tlogin_count\tpost_count\nu,1\t1\t2\n", []string{"2 u,1|1|2"}, false},
		"semicolon":            {"user_id;login_count;post_count\nu,1;1;2\n", []string{"2 u,1|1|2"}, false},
		"Japanese header":      {"ユーザーID,ログイン回数,投稿回数\nu1,1,2\n", []string{"2 u1|1|2"}, false},
		"full-width header":    {"ユーザーＩＤ,ログイン回数,投稿回数\nu1,1,2\n", []string{"2 u1|1|2"}, false},
		"other order and case": {" Post_Count ,USER_ID,login_count\n2,u1,1\n", []string{"2 u1|1|2"}, false},
		"Shift_JIS":            {shiftJIS(t, "ユーザーID,ログイン回数,投稿回数\n表示ソ,1,2\n"), []string{"2 表示ソ|1|2"}, false},
		"corrections":          {"user_id,login_count,post_count,line,error,reason,letter\n'=u,1,2,7,ValidationError,\"a, b\",row:a-1:7\n", []string{"2 =u|1|2"}, false},

		"too few fields": {head + "u1,1\n",
			[]string{"2 !the row has 2 fields, the header has 3 columns: add what is missing"}, false},
		"too many fields": {head + "u1,1,000,2\n",
			[]string{"2 !the row has 4 fields, the header has 3 columns: put a value that contains the comma in double quotes"}, false},
		"only delimiters": {head + ",,\n",
			[]string{"2 !user_id is empty: give the user's id; login_count is empty: write 0 if there was none; post_count is empty: write 0 if there was none"}, false},
		"negative": {head + "u1,-1,2\n",
			[]string{"2 !login_count -1 is negative: counts are added, so only 0 and more are allowed"}, false},
		"plus sign": {head + "u1,+1,2\n",
			[]string{`2 !login_count "+1" is not a whole number: use the digits 0 to 9 only, without sign, separators or decimals`}, false},
		"decimal": {head + "u1,1,2.0\n",
			[]string{`2 !post_count "2.0" is not a whole number: use the digits 0 to 9 only, without sign, separators or decimals`}, false},
		"full-width digit": {head + "u1,１,2\n",
			[]string{`2 !login_count "１" is not a whole number: use the digits 0 to 9 only, without sign, separators or decimals`}, false},
		"too large": {head + "u1,9223372036854775808,2\n",
			[]string{"2 !login_count 9223372036854775808 is too large: the largest count is 9223372036854775807"},
			false},
		"largest": {head + "u1,9223372036854775807,0\n", []string{"2 u1|9223372036854775807|0"}, true},
		"long id": {head + strings.Repeat("あ", 257) + ",1,2\n",
			[]string{"2 !user_id has 257 characters: at most 256 are allowed"}, false},
		"NUL": {head + "u\x001,1,2\nu2,1,1\n", []string{"2 !user_id holds a NUL byte: remove it",
			"3 u2|1|1"}, false},
		"text after quote": {head + `"u"1,1,2` + "\nu2,1,1\n",
			[]string{`2 !the row has text after a closing double quote: write "" for a quote inside a value`,
				"3 u2|1|1"}, false},
		"open quote": {head + "\"u1,1,2\nu2,1,1\n",
			[]string{`2 !the row opens a double quote that is not closed: close it, or write "" for a quote inside a value`, "3 u2|1|1"}, false},
		"open quote at end": {head + "u2,1,1\n\"u1,1,2",
			[]string{"2 u2|1|1", `3 !the row opens a double quote that is not closed: close it, or write "" for a quote inside a value`}, false},
		"long line": {head + long + ",1,2\nu2,1,1\n",
			[]string{"2 !the row is longer than 65536 bytes: check for a missing line end or quote", "3 u2|1|1"},
			false},
		"long last line": {head + "u2,1,1\n" + long,
			[]string{"2 u2|1|1", "3 !the row is longer than 65536 bytes: check for a missing line end or quote"},
			false},
		"long quote": {head + `"` + long + `",1,2` + "\r\nu2,1,1\n",
			[]string{"2 !the row is longer than 65536 bytes: check for a missing line end or quote", "3 u2|1|1"},
			false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for way, src := range map[string]io.Reader{"at once": strings.NewReader(test.file),
				"byte by byte": iotest.OneByteReader(strings.NewReader(test.file))} {
				got, r, err := rows(t, src)
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
					t.Errorf("%s: rows are\n%s\nwant\n%s", way, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
				}
				if r.Regular() != test.regular {
					t.Errorf("%s: Regular is %v, want %v", way, r.Regular(), test.regular)
				}
			}
		})
	}
}

// tenMegabytes returns a reader of one long line that is never in memory.
func tenMegabytes() io.Reader {
	return io.MultiReader(strings.NewReader(head+"u0,1,1\n"), io.LimitReader(repeat('x'), 10<<20),
		strings.NewReader(",1,2\nu2,1,1\n"))
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

func TestTenMegabyteLine(t *testing.T) {
	t.Parallel()
	got, _, err := rows(t, tenMegabytes())
	want := "2 u0|1|1\n3 !the row is longer than 65536 bytes: check for a missing line end or quote\n4 u2|1|1"
	if err != nil || strings.Join(got, "\n") != want {
		t.Errorf("rows are\n%s\n%v; want\n%s", strings.Join(got, "\n"), err, want)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	utf16 := func(order string) string {
		var b strings.Builder
		for _, c := range []byte(head + "u1,1,2\n") {
			if order == "LE" {
				b.Write([]byte{c, 0})
			} else {
				b.Write([]byte{0, c})
			}
		}
		return b.String()
	}
	euc, err := japanese.EUCJP.NewEncoder().String(head + "利用者の名前,1,2\n")
	if err != nil {
		t.Fatal(err)
	}
	iso, err := japanese.ISO2022JP.NewEncoder().String("ユーザーID,ログイン回数,投稿回数\n")
	if err != nil {
		t.Fatal(err)
	}
	utf16Japanese, err := unicode.UTF16(unicode.LittleEndian,
		unicode.IgnoreBOM).NewEncoder().String("ユーザーID,ログイン回数,投稿回数\n" + strings.Repeat("山田太郎,12,3\n", 20))
	if err != nil {
		t.Fatal(err)
	}
	var columns strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&columns, "c%d,", i)
	}
	const encodings = `; accepted are UTF-8 (with or without BOM) and Shift_JIS; save the file as "CSV UTF-8" and upload it again`
	const header = " (columns separated by comma); expected are the columns user_id (or ユーザーID), login_count (or ログイン回数) and post_count (or 投稿回数), each once, in any order; a corrections file keeps its columns line, error, reason and letter"
	for name, test := range map[string]struct{ file, want string }{
		"empty": {"", "CSVFileEmpty: the object holds nothing but blank lines; upload a file with a header and rows"},
		"blank lines": {"\r\n \n\n",
			"CSVFileEmpty: the object holds nothing but blank lines; upload a file with a header and rows"},
		"BOM only": {byteOrderMark,
			"CSVFileEmpty: the object holds nothing but blank lines; upload a file with a header and rows"},
		"UTF-16 with BOM": {"\xFF\xFE" + utf16("LE"),
			"CSVEncodingUnsupported: byte 0: the byte order mark of UTF-16LE" + encodings},
		"UTF-16LE": {utf16("LE"),
			"CSVEncodingUnsupported: byte 1: every second byte of plain letters is NUL, so the text is UTF-16LE without a byte order mark" + encodings},
		"UTF-16BE": {utf16("BE"),
			"CSVEncodingUnsupported: byte 0: every second byte of plain letters is NUL, so the text is UTF-16BE without a byte order mark" + encodings},
		"UTF-16LE, no BOM": {utf16Japanese,
			"CSVEncodingUnsupported: byte 9: every second byte of plain letters is NUL, so the text is UTF-16LE without a byte order mark" + encodings},
		"EUC-JP": {euc, "CSVEncodingUnsupported: line 2, byte 31: the text looks like EUC-JP" + encodings},
		"ISO-2022-JP": {iso, "CSVEncodingUnsupported: line 1, byte 0: an escape sequence of ISO-2022-JP" +
			encodings},
		"Latin-1": {head + "Ren\xE9,1,2\n",
			"CSVEncodingUnsupported: line 2, byte 34 (0xE9) is not UTF-8, and the file is not Shift_JIS either" +
				encodings},
		"BOM, not UTF-8": {byteOrderMark + head + "\xE9,1,2\n",
			"CSVEncodingUnsupported: line 2, byte 34 (0xE9) is not UTF-8, which the byte order mark announces" +
				encodings},
		"Excel": {"PK\x03\x04\x14\x00\x06\x00",
			"CSVFileBinary: the object is a ZIP archive or an Excel workbook (.xlsx), not a CSV file: export the sheet as CSV, or unpack the archive and upload the CSV"},
		"gzip": {"\x1F\x8B\x08\x00\x00",
			"CSVFileBinary: the object is a gzip file, not a CSV file: decompress it and upload the CSV"},
		"PDF": {"%PDF-1.7\n",
			"CSVFileBinary: the object is a PDF document, not a CSV file: export the table as CSV and upload the CSV"},
		"zeros": {strings.Repeat("\x00", 64),
			"CSVFileBinary: the object is binary data, not a CSV file: 64 of its first 64 bytes are control characters, the first (0x00) at byte 0; upload the CSV text"},
		"duplicate header": {"user_id,login_count,ユーザーID,post_count\n",
			"CSVHeaderInvalid: line 1: user_id occurs twice, in columns 1 and 3" + header},
		"missing column": {"user_id,post_count\n", "CSVHeaderInvalid: line 1: login_count is missing" + header},
		"unknown column": {"user_id,login_count,post_count,remark\n",
			`CSVHeaderInvalid: line 1: column 4 "remark" is not known` + header},
		"10,001 columns": {columns.String() + "user_id\n",
			`CSVHeaderInvalid: line 1: column 1 "c0" is not known, column 2 "c1" is not known, column 3 "c2" is not known, column 4 "c3" is not known, column 5 "c4" is not known, column 6 "c5" is not known, column 7 "c6" is not known, 9992 more, column 10000 "c9999" is not known, login_count is missing, post_count is missing` + header},
		"corrections without letters": {"user_id,login_count,post_count,line,error,reason\n",
			"CSVHeaderInvalid: line 1: the column letter of the corrections file is missing, without which a row that was redriven could be counted twice: restore it, or remove the columns line, error and reason as well to import all rows as new ones" + header},
		"no header": {"u1,3,4\n",
			`CSVHeaderInvalid: line 1: column 1 "u1" is not known, column 2 "3" is not known, column 3 "4" is not known, user_id is missing, login_count is missing, post_count is missing` + header + "; the first row looks like data: put a header row above it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := rows(t, strings.NewReader(test.file))
			if err == nil || err.Error() != test.want {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestLateBadByte(t *testing.T) {
	t.Parallel()
	file := head + strings.Repeat("u1,1,2\n", 20000) + "\x82\xA0,1,2\n"
	_, _, err := rows(t, strings.NewReader(file))
	want := `CSVEncodingUnsupported: line 20002, byte 140031 (0x82) is not UTF-8; accepted are UTF-8 (with or without BOM) and Shift_JIS; save the file as "CSV UTF-8" and upload it again`
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"u1": "u1", "": "", "=1+1": "'=1+1", "@x": "'@x", "-5": "'-5", "'=1": "''=1", "'": "'", "'x": "'x",
		"\tx": "'\tx",
	} {
		if got := Guard(value); got != want {
			t.Errorf("Guard(%q) is %q, want %q", value, got, want)
		}
		if got := string(unguard([]byte(Guard(value)))); got != value {
			t.Errorf("unguard(Guard(%q)) is %q", value, got)
		}
	}
}
