package csvfile

import "bytes"

// A spreadsheet runs a cell that begins with =, +, - or @ (or a tab or CR before one) as a formula. A corrections file
// therefore writes an apostrophe before such a value, and before one that already begins with apostrophes and then such
// a character, so that reading it back removes exactly what was added.

// Guard is a value as a corrections file writes it.
func Guard(value string) string {
	if guarded([]byte(value)) {
		return "'" + value
	}
	return value
}

// Unguard is the value that Guard was given.
func Unguard(value string) string { return string(unguard([]byte(value))) }

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
