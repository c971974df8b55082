package aggregate

import (
	"bufio"
	"encoding/json"
	"io"
)

// jsonLines writes one JSON document a line.
type jsonLines struct {
	out     *bufio.Writer
	encoder *json.Encoder
}

func newJSONLines(w io.Writer) *jsonLines {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return &jsonLines{out: out, encoder: encoder}
}

func (j *jsonLines) write(v any) error { return j.encoder.Encode(v) }

func (j *jsonLines) flush() error { return j.out.Flush() }
