package main

import (
	"encoding/json"
	"io"
)

// printJSON writes v as indented JSON, with <, > and & unescaped.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
