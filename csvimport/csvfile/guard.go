package csvfile

import "bytes"

// A spreadsheet runs a cell as a formula if it starts with =, +, - or @, or with a tab or CR before one of these. A
// corrections file therefore puts an apostrophe before such a value. It also puts one before a value that starts
// with apostrophes followed by such a character, so that reading the file back removes exactly what was added.

// Guard returns a value as it is written to a corrections file.
func Guard(value string) string {
	if guarded([]byte(value)) {
		return "'" + value
	}
	return value
}

// unguard undoes Guard.
func unguard(value []byte) []byte {
	if len(value) > 0 && value[0] == '\'' && guarded(value[1:]) {
		return value[1:]
	}
	return value
}

func guarded(value []byte) bool {
	rest := bytes.TrimLeft(value, "'")
	return len(rest) > 0 && bytes.IndexByte([]byte("=+-@\t\r"), rest[0]) >= 0
}
