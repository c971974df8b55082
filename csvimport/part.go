package csvimport

import "strconv"

// Part is the part of a file that a Map Run applies. The zero value is a file that is applied as a whole.
type Part struct {
	Number int    `json:"number,omitempty"` // from 0
	Count  int    `json:"count,omitempty"`  // number of parts of the file; 0 if it was not cut
	Offset Offset `json:"offset"`
	// Total is the number of rows in the whole file, and List the object that lists all parts; only if Count is above
	// 0.
	Total int64    `json:"total,omitempty"`
	List  Location `json:"list,omitzero"`
}

// Offset is the position of a part in its file. A part counts its rows from 0 and, if it is normalised, its lines from
// 1.
type Offset struct {
	Rows  int64 `json:"rows"`  // rows of the file before the part
	Lines int64 `json:"lines"` // lines of the file before the part
}

// Record returns a record of the part with its line in the file.
func (o Offset) Record(r Record) Record {
	if o.Lines == 0 || r.Line == "" {
		return r
	}
	if line, err := strconv.ParseInt(r.Line, 10, 64); err == nil {
		r.Line = strconv.FormatInt(o.Lines+line, 10)
	}
	return r
}

// Increment is like r.Increment for a record of the part. The error names the line in the file.
func (o Offset) Increment(r *Record) (Increment, error) {
	inc, err := r.Increment()
	if err != nil && o.Lines > 0 {
		return o.Record(*r).Increment()
	}
	return inc, err
}

// ListedPart is a part in the list of a file's parts.
type ListedPart struct {
	Data   Location `json:"data"` // the object that the ItemReader reads
	Rows   int64    `json:"rows"`
	Offset Offset   `json:"offset"`
}

// PartList lists the parts of a file that was cut, in order.
type PartList struct {
	Rows  int64        `json:"rows"` // in all parts
	Parts []ListedPart `json:"parts"`
}

// Part returns the part with a number. at is the location of the list.
func (l PartList) Part(number int, at Location) Part {
	return Part{Number: number, Count: len(l.Parts), Offset: l.Parts[number].Offset, Total: l.Rows, List: at}
}

// Last reports whether no part follows.
func (p Part) Last() bool { return p.Number+1 >= p.Count }
