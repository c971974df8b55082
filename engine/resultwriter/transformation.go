package resultwriter

import (
	"strings"

	"stepback/jsonvalue"
)

// Transformation is the form in which the result of a succeeded child is kept, as AWS names it. Children that did not
// succeed are always kept as full records.
type Transformation string

// The transformations.
const (
	None    Transformation = "NONE"    // the full record
	Compact Transformation = "COMPACT" // the output
	Flatten Transformation = "FLATTEN" // the output; for an array, its elements
)

// OutputType is the format of result files, as AWS names it.
type OutputType string

// The output types.
const (
	JSON  OutputType = "JSON"  // one JSON array per file
	JSONL OutputType = "JSONL" // one JSON value per line
)

// format converts results into the elements of a result file.
type format struct {
	transformation Transformation
	lines          bool
}

// append appends the elements of r, separated as in the file; a flattened empty array has none.
func (f format) append(dst []byte, r *ChildResult) []byte {
	if r.Status != Succeeded || f.transformation == None {
		return r.appendRecord(dst)
	}
	output := strings.TrimSpace(r.Output)
	if f.lines {
		return f.appendLines(dst, output)
	}
	if f.transformation == Flatten && isArray(output) {
		return append(dst, strings.TrimSpace(output[1:len(output)-1])...)
	}
	return append(dst, output...)
}

// appendLines appends an output for a JSON Lines file, on one line even if its own layout has newlines.
func (f format) appendLines(dst []byte, output string) []byte {
	flat := f.transformation == Flatten && isArray(output)
	if !flat && !strings.ContainsAny(output, "\r\n") {
		return append(dst, output...)
	}
	v, err := jsonvalue.Parse(output)
	if err != nil {
		return append(dst, output...)
	}
	if !flat {
		return v.AppendJSON(dst)
	}
	for i, element := range v.Elements() {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = element.AppendJSON(dst)
	}
	return dst
}

func isArray(text string) bool {
	return len(text) >= 2 && text[0] == '[' && text[len(text)-1] == ']'
}
