package csvfile

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const badEncoding = "CSVEncodingUnsupported: %s; accepted are UTF-8 (with or without BOM) and Shift_JIS; save the file as \"CSV UTF-8\" and upload it again"

// TestEncoding reads files whose bytes could be in more than one encoding: the whole file decides, or is refused.
func TestEncoding(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("u1,1,2\n", 20_000) // 140,000 bytes, more than the head
	japanese := strings.Repeat("田中,1,2\n鈴木,3,4\n佐藤,7,8\n", 100)
	names := "山田太郎,1,2\n渡邊,3,4\n齋藤,5,6\n珈琲ABC,5,6\niPhone用,1,1\n"
	halfWidth := "ﾔﾏﾀﾞ,1,2\nﾃｱ,1,2\nｻﾄｳ,1,2\nﾀﾅｶ,1,2\nｲﾄｳ,1,2\n"
	for name, test := range map[string]struct{ file, want string }{
		"one damaged byte":                 {head + "田中,1,2\n鈴木,3,4\n\xE4\xB8,5,6\n佐藤,7,8\n", "line 4, byte 53 (0xE4) is not UTF-8, but line 2 is: the file is damaged or in mixed encodings"},
		"the damaged byte is the first":    {head + "\xE4\xB8,5,6\n佐藤,7,8\n", "line 2, byte 31 (0xE4) is not UTF-8, but line 3 is: the file is damaged or in mixed encodings"},
		"the damaged line is the only one": {head + "田\xE4\xB8,5,6\n", "line 2, byte 34 (0xE4) is not UTF-8, but the rest of the line is: the file is damaged or in mixed encodings"},
		"cut off":                          {head + "田中,1,2\n鈴\xE6\x9C", "line 3, byte 45 (0xE6) is not a whole character of UTF-8, and the file ends there: it was cut off"},
		"cut off after the head":           {head + long + japanese + "鈴\xE6\x9C", "line 20302, byte 143334 (0xE6) is not a whole character of UTF-8, and the file ends there: it was cut off"},
		"damaged after the head":           {head + long + japanese + "\xE4\xB8,5,6\n", "line 20302, byte 143331 (0xE4) is not UTF-8, but line 20002 is: the file is damaged or in mixed encodings"},
		"damaged in the head":              {head + "\xE4\xB8,5,6\n" + long + japanese, "line 2, byte 31 (0xE4) is not UTF-8, but line 20003 is: the file is damaged or in mixed encodings"},
		"damaged Latin names":              {head + "Müller,1,2\nJörg,1,2\nRen\xC3,1,2\n", "line 4, byte 56 (0xC3) is not UTF-8, but line 2 is: the file is damaged or in mixed encodings"},
		"Shift_JIS with a line of UTF-8": {head + shiftJIS(t, strings.Repeat(names, 100)) + "田中,1,2\n",
			"line 2, byte 31 (0x8E) is not UTF-8, but line 502 is: the file is damaged or in mixed encodings"},
		"UTF-8 with a line of Shift_JIS": {head + japanese + shiftJIS(t, "山田,1,2\n"), "line 302, byte 3331 (0x8E) is not UTF-8, but line 2 is: the file is damaged or in mixed encodings"},
		"Shift_JIS and kana of UTF-8":    {head + shiftJIS(t, names) + "あい,1,2\n", "line 2, byte 31 (0x8E) is not UTF-8, but line 7 is: the file is damaged or in mixed encodings"},
		"Windows-1252":                   {head + "Fran\xE7ois,1,2\n", "line 2, byte 35 (0xE7) is not UTF-8, and the text looks like Windows-1252 or Latin-1"},
		"Windows-1252 in capitals":       {head + "M\xDCLLER,1,2\n", "line 2, byte 32 (0xDC) is not UTF-8, and the text looks like Windows-1252 or Latin-1"},
		"ISO-2022-JP after the head":     {head + long + "\x1b$BEDCf\x1b(B,1,2\n", "line 20002, byte 140031: an escape sequence of ISO-2022-JP"},
		"EUC-JP after the head":          {head + long + "\xA4\xA2\xA4\xA4\xA4\xA6\xA4\xA8,1,2\n", "line 20002, byte 140031: the text looks like EUC-JP"},
		"a byte of neither":              {head + shiftJIS(t, "山田,1,2\n") + "\x80,1,2\n", "line 3, byte 40 (0x80) is not UTF-8, and the file is not Shift_JIS either"},
		"BOM and a late damaged byte":    {byteOrderMark + head + long + "\xE4,1,2\n", "line 20002, byte 140034 (0xE4) is not UTF-8"},
		"carriage returns":               {strings.ReplaceAll(head+"u1,1,2\n田中,1,2\n", "\n", "\r\n") + "\xE4\xB8,1,2\r", "line 4, byte 52 (0xE4) is not UTF-8, but line 3 is: the file is damaged or in mixed encodings"},

		"Shift_JIS":                    {head + shiftJIS(t, names), ""},
		"Shift_JIS after the head":     {head + long + shiftJIS(t, names), ""},
		"Shift_JIS, half-width":        {head + shiftJIS(t, halfWidth), ""},
		"Shift_JIS, both widths":       {head + shiftJIS(t, names+halfWidth), ""},
		"Shift_JIS, one half-width":    {head + shiftJIS(t, "ﾀ,7,8\n"), ""},
		"Shift_JIS, one long line":     {head + shiftJIS(t, strings.Repeat("山田太郎", 50_000)) + ",1,2\nu1,1,1\n", ""},
		"UTF-8":                        {head + japanese + "René,1,2\n𠮷野,1,2\n", ""},
		"UTF-8 after the head":         {head + long + japanese, ""},
		"UTF-8, a damaged long line":   {head + "田中,1,2\n" + strings.Repeat("x", 100_000) + "\xE4\xB8,1,2\n", "line 3, byte 100042 (0xE4) is not UTF-8, but line 2 is: the file is damaged or in mixed encodings"},
		"UTF-8, half-width characters": {head + "ﾃｱ,1,2\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for way, src := range map[string]func() io.Reader{
				"at once":      func() io.Reader { return strings.NewReader(test.file) },
				"byte by byte": func() io.Reader { return iotest.OneByteReader(strings.NewReader(test.file)) },
			} {
				format, err := read(src(), "")
				if err != nil && format == UTF8 {
					_, err = read(src(), ShiftJIS) // as the validation does
				}
				want := ""
				if test.want != "" {
					want = fmt.Sprintf(badEncoding, test.want)
				}
				if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
					t.Errorf("%s: error is\n%v\nwant\n%s", way, err, want)
				}
			}
		})
	}
}

// read reads a file to its end, and returns the encoding in which it was read.
func read(src io.Reader, assume Encoding) (Encoding, error) {
	r, err := NewReader(src, assume)
	if err != nil {
		return "", err
	}
	report, err := Check(r)
	return report.Encoding, err
}

// TestRowsWithADelimiterAtTheEnd reads the forms in which Excel writes an empty last column, and its line sep=;.
func TestRowsWithADelimiterAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file string
		want []string
	}{
		"every row":             {head + "u1,1,2,\nu2,3,4,\n", []string{"2 u1|1|2", "3 u2|3|4"}},
		"header and every row":  {"user_id,login_count,post_count,\nu1,1,2,\nu2,3,4,\n", []string{"2 u1|1|2", "3 u2|3|4"}},
		"header alone":          {"user_id,login_count,post_count,\nu1,1,2\n", []string{"2 u1|1|2"}},
		"a value in the column": {head + "u1,1,2,\nu2,3,4,5\n", []string{"2 u1|1|2", "3 !the row has 4 fields, the header has 3 columns: put a value that contains the comma in double quotes"}},
		"a later row alone": {head + "u1,1,2\nu2,3,4,\n", []string{"2 u1|1|2",
			"3 !the row has 4 fields, the header has 3 columns: put a value that contains the comma in double quotes, or remove the empty last column"}},
		"sep=;":          {"sep=;\r\nuser_id;login_count;post_count\r\nu,1;1;2\r\n", []string{"3 u,1|1|2"}},
		"SEP=,":          {"SEP=,\n" + head + "u1,1,2\n", []string{"3 u1|1|2"}},
		"BOM and sep=\t": {byteOrderMark + "sep=\t\nuser_id\tlogin_count\tpost_count\nu1\t1\t2\n", []string{"3 u1|1|2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, r, err := rows(t, strings.NewReader(test.file))
			if err != nil || strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Fatalf("rows are\n%s\n%v; want\n%s", strings.Join(got, "\n"), err, strings.Join(test.want, "\n"))
			}
			if r.Regular() {
				t.Error("the ItemReader reads the file without a copy")
			}
		})
	}
}
