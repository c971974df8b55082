package terminal

import (
	"bytes"
	"os"
)

// ReadFile reads a file that a user wrote, without its byte order mark. Definitions are read by package definitions,
// which keeps the mark, because positions in the text depend on it and AWS rejects it.
func ReadFile(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	return WithoutMark(text), err
}

// WithoutMark removes the UTF-8 byte order mark that programs of Windows write at the beginning of a file. JSON has
// none.
func WithoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }
