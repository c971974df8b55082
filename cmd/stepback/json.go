package main

import (
	"encoding/json"
	"io"
)

// printJSON prints what a script reads: indented, and with <, > and & as they are.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
