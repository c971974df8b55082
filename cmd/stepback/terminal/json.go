package terminal

import (
	"encoding/json"
	"io"
)

// PrintJSON writes v as indented JSON, with <, > and & unescaped.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
