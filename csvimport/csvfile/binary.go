package csvfile

import (
	"bytes"

	"stepback/csvimport"
	"stepback/statemachine"
)

// signatures are the first bytes of files that are mistakenly uploaded instead of a CSV.
var signatures = []struct{ magic, name, advice string }{
	{"PK\x03\x04", "a ZIP archive or an Excel workbook (.xlsx)", "export the sheet as CSV, or unpack the archive"},
	{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old Excel or Office file (.xls)", "export the sheet as CSV"},
	{"\x1F\x8B", "a gzip file", "decompress it"},
	{"BZh", "a bzip2 file", "decompress it"},
	{"\xFD7zXZ\x00", "an xz file", "decompress it"},
	{"\x28\xB5\x2F\xFD", "a Zstandard file", "decompress it"},
	{"7z\xBC\xAF\x27\x1C", "a 7-Zip archive", "unpack it"},
	{"Rar!\x1A\x07", "a RAR archive", "unpack it"},
	{"%PDF-", "a PDF document", "export the table as CSV"},
	{"\x89PNG\r\n\x1A\n", "a PNG image", "check the upload"},
	{"\xFF\xD8\xFF", "a JPEG image", "check the upload"},
	{"GIF8", "a GIF image", "check the upload"},
	{"SQLite format 3\x00", "an SQLite database", "export the table as CSV"},
	{"PAR1", "a Parquet file", "export it as CSV"},
	{"\x7FELF", "a program", "check the upload"},
	{"MZ", "a program", "check the upload"},
}

// binaryFileError returns an error that names the kind of file if head starts with a known signature, and nil
// otherwise. It and looksBinary are called only if head has no readable header. A CSV with a few NUL bytes, or one
// that starts with "MZ", therefore keeps its rows.
func binaryFileError(head []byte) error {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return csvimport.Fail(statemachine.CSVFileBinary,
				"the object is %s, not a CSV file: %s and upload the CSV", s.name, s.advice)
		}
	}
	return nil
}

// binaryContentError returns an error if head is not text at all, and nil otherwise.
func binaryContentError(head []byte) error {
	var control int
	first := -1
	for i, c := range head {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != 0x1B || c == 0x7F {
			control++
			if first < 0 {
				first = i
			}
		}
	}
	if control*20 > len(head) {
		return csvimport.Fail(statemachine.CSVFileBinary,
			"the object is binary data, not a CSV file: %d of its first %d bytes are control characters, the first (0x%02X) at byte %d; upload the CSV text", control, len(head), head[first], first)
	}
	return nil
}

// utf16Error returns an error if head is UTF-16 without a byte order mark, and nil otherwise.
func utf16Error(head []byte) error {
	var even, odd int
	for i, c := range head {
		if c == 0 {
			if i%2 == 0 {
				even++
			} else {
				odd++
			}
		}
	}
	name := "UTF-16LE"
	if even > odd {
		name = "UTF-16BE"
	}
	if many, few := max(even, odd), min(even, odd); many*5 < len(head) || few*20 > many {
		return nil
	}
	return csvimport.Fail(statemachine.CSVEncodingUnsupported,
		"byte %d: every second byte of plain letters is NUL, so the text is %s without a byte order mark; %s",
		bytes.IndexByte(head, 0), name, acceptedEncodings)
}
