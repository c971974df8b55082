package resultwriter

import (
	"strings"

	"stepback/jsonvalue"
)

// Transformation says what of a succeeded child is kept, in AWS's words. Children that did not succeed are always kept
// as full records.
type Transformation string

// The transformations.
const (
	None    Transformation = "NONE"    // the full record
	Compact Transformation = "COMPACT" // the output
	Flatten Transformation = "FLATTEN" // the output; of an array its elements
)

// OutputType is the format of result files, in AWS's words.
type OutputType string

// The output types.
const (
	JSON  OutputType = "JSON"  // one JSON array a file
	JSONL OutputType = "JSONL" // one JSON value a line
)

// format turns results into the elements of a result file.
type format struct {
	transformation Transformation
	lines          bool
}

// append appends the elements that r contributes, separated as in the file; a flattened empty array contributes none.
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

// appendLines makes sure that no newline of the output's own layout cuts it into two lines.
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
