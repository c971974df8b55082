package csvfile

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"

	"stepback/csvimport"
	"stepback/statemachine"
)

// Layout holds the facts about a file that a reader needs to read a range of it. They come from the head of the file.
type Layout struct {
	Encoding  Encoding  `json:"encoding"` // as the head suggests; Judge decides
	Delimiter Delimiter `json:"delimiter"`
	Columns   []string  `json:"columns"`             // of the header, by their English names
	Irregular bool      `json:"irregular,omitempty"` // no range can be copied as it is
	EmptyLast bool      `json:"emptyLast,omitempty"` // rows may end with a delimiter
	Begin     int64     `json:"begin"`               // offset of the first line after the header
	Lines     int64     `json:"lines"`               // number of lines before Begin
	Head      Evidence  `json:"head"`                // of the bytes before Begin
}

// columnTitles are the names of the columns in a Layout.
var columnTitles = [...]string{columnUserID: "user_id", columnLoginCount: "login_count", columnPostCount: "post_count",
	columnLetter: "letter", columnIgnored: "line"}

// Inspect reads the head of a file: the first 64 KiB, or more if the header or the first row is longer. assume is the
// encoding to use instead of the one that the head suggests; it may be empty. Errors are those of [NewReader].
//
// A file with the column letter is refused with CSVFileTooLarge: its rows have to be matched with their dead letters
// before any of them is imported.
func Inspect(src io.Reader, assume Encoding) (Layout, error) {
	var head bytes.Buffer
	r, err := NewReader(io.TeeReader(src, &head), assume)
	if err != nil {
		return Layout{}, err
	}
	if r.header.lettered {
		return Layout{}, csvimport.Fail(statemachine.CSVFileTooLarge,
			"a file with the column letter is imported as a whole, and is too large for that: split it, or remove the columns line, error, reason and letter to import all rows as new ones")
	}
	l := Layout{Encoding: r.format.Encoding, Delimiter: r.format.Delimiter, Begin: r.scanner.offset,
		Lines: r.scanner.line - 1, Irregular: !r.header.canonical || r.format.Encoding == ShiftJIS}
	for _, c := range r.header.columns {
		l.Columns = append(l.Columns, columnTitles[c])
	}
	bom := 0
	if l.Encoding == UTF8BOM {
		bom = len(byteOrderMark)
	}
	e := evidence{utf8Only: l.Encoding != ShiftJIS, offset: int64(bom)}
	_, _ = e.Write(head.Bytes()[bom:l.Begin])
	l.Head = e.found()
	// Whether rows end with a delimiter is decided by the header or the first row. An error in that row is found again
	// by the reader of its range.
	_, _ = r.Next()
	l.EmptyLast = r.emptyLast
	return l, nil
}

// Ranges cuts a file of size bytes into count ranges of about the same length. The first begins after the header. There
// may be fewer if the file is short.
func (l Layout) Ranges(size int64, count int) []Range {
	var all []Range
	for i := range count {
		from := max(size/int64(count)*int64(i), l.Begin)
		if i == 0 {
			from = l.Begin
		}
		to := size
		if i < count-1 {
			to = max(size/int64(count)*int64(i+1), l.Begin)
		}
		if from < to {
			all = append(all, Range{from, to})
		}
	}
	return all
}

// Range is a part of a file, in bytes from its beginning. Its rows are those that begin at From or later and before To.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Unknown says that it is not known where the first row of a range begins: the first line start is tried.
const Unknown = -1

// RangeReader reads the rows of a range. It embeds a Reader, whose rows and lines are counted from the range's first
// row.
type RangeReader struct {
	Reader
	start   int64
	segment *segment
}

// NewRangeReader returns a reader of a range. src holds the file from offset [Layout.Offset] to its end; the reader
// reads as far as the end of the row that crosses the end of the range. start is the offset of the range's first row,
// or Unknown. The error is that of src.
func (l Layout) NewRangeReader(src io.Reader, at Range, start int64) (*RangeReader, error) {
	first, src, err := l.firstLine(src, at)
	if err != nil {
		return nil, err
	}
	r := &RangeReader{start: max(start, first)}
	r.evidence = &evidence{utf8Only: l.Encoding != ShiftJIS}
	r.segment = &segment{to: at.To, at: first, before: '\n', evidence: r.evidence}
	src = io.TeeReader(src, r.segment)
	if _, err := io.CopyN(io.Discard, src, r.start-first); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	r.part, r.limit, r.irregular, r.emptyLast = true, at.To, l.Irregular, l.EmptyLast
	r.scan(src, l.Encoding)
	r.scanner.offset, r.scanner.delimiter, r.format.Delimiter = r.start, byte(l.Delimiter), l.Delimiter
	for _, name := range l.Columns {
		r.header.columns = append(r.header.columns, columnNames[name])
	}
	return r, nil
}

// Offset returns the offset at which the source of a range must begin: one byte before the range, which shows whether a
// line starts there.
func (l Layout) Offset(at Range) int64 {
	if at.From <= l.Begin {
		return l.Begin
	}
	return at.From - 1
}

// firstLine returns the offset of the first line that starts in or after the range, and a reader of the file from
// there.
func (l Layout) firstLine(src io.Reader, at Range) (int64, io.Reader, error) {
	if at.From <= l.Begin {
		return l.Begin, src, nil
	}
	buf := make([]byte, headBytes)
	offset := at.From - 1
	before := byte(0)
	for {
		n, err := src.Read(buf)
		for i, c := range buf[:n] {
			if offset+int64(i) >= at.From && (before == '\n' || before == '\r' && c != '\n') {
				return offset + int64(i), io.MultiReader(bytes.NewReader(slices.Clone(buf[i:n])), src), nil
			}
			before = c
		}
		offset += int64(n)
		if err == io.EOF {
			return offset, bytes.NewReader(nil), nil
		}
		if err != nil {
			return 0, nil, err
		}
	}
}

// segment passes the lines of a range on to the evidence. They are the lines that start in the range, whether a row
// starts there or not, so that each line of a file belongs to one range.
type segment struct {
	to, at   int64 // at is the offset of the next byte
	before   byte  // the byte before it
	done     bool  // the first line after the range has begun
	evidence *evidence
}

// Write implements io.Writer; it does not fail.
func (s *segment) Write(p []byte) (int, error) {
	if s.done || len(p) == 0 {
		return len(p), nil
	}
	i := int(max(0, min(int64(len(p)), s.to-s.at)))
	for ; i < len(p); i++ {
		before := s.before
		if i > 0 {
			before = p[i-1]
		}
		if s.done = before == '\n' || before == '\r' && p[i] != '\n'; s.done {
			break
		}
	}
	_, _ = s.evidence.Write(p[:i])
	s.at += int64(i)
	if i > 0 {
		s.before = p[i-1]
	}
	return len(p), nil
}

// RangeReport is the result of checking a range. Lines of its problems are counted from the range's first row.
type RangeReport struct {
	Report
	Start    int64    // offset of the first row, or of what was tried as that
	Next     int64    // offset of the first row after the range
	Lines    int64    // number of lines from Start to Next
	Evidence Evidence // of the lines that start in the range
}

// CheckRange reads a range to its end. The error is that of the reader's source.
func CheckRange(r *RangeReader) (RangeReport, error) {
	report, err := Check(&r.Reader)
	if err != nil {
		return RangeReport{}, err
	}
	if !r.segment.done { // the file has ended
		r.evidence.end()
	}
	return RangeReport{Report: report, Start: r.start, Next: r.scanner.offset, Lines: r.scanner.line - 1,
		Evidence: r.evidence.found()}, nil
}

// Restart says where a range has to be read from.
type Restart struct {
	Range int   // index of the range
	Start int64 // offset of its first row
}

// Misplaced returns the ranges that were read from an offset at which no row begins, given the reports of all ranges in
// order. After these have been read again, others may be misplaced, but the first of them is right.
func Misplaced(reports []RangeReport) []Restart {
	var all []Restart
	for i := 1; i < len(reports); i++ {
		if start := reports[i-1].Next; start != reports[i].Start {
			all = append(all, Restart{i, start})
		}
	}
	return all
}

// Judge returns an error if a file is not in the encoding of its layout. all holds the evidence of all of its ranges,
// in order. The error is the one that reading the whole file gives. assume is the encoding in which the file may be
// instead, or empty.
func (l Layout) Judge(all []Evidence) (assume Encoding, err error) {
	e := evidence{utf8Only: l.Encoding != ShiftJIS}
	e.add(l.Head)
	for _, one := range all {
		e.add(one)
	}
	r := Reader{format: Format{Encoding: l.Encoding}, limit: math.MaxInt64, evidence: &e}
	if err := r.ended(); err != io.EOF {
		if l.Encoding == UTF8 {
			assume = ShiftJIS
		}
		return assume, err
	}
	return "", nil
}

// Evidence holds what the lines of a range show about the encoding.
type Evidence struct {
	Bytes     int64  `json:"bytes"`
	Lines     int64  `json:"lines"`
	Invalid   *place `json:"invalid,omitempty"` // the first byte that is not UTF-8
	Cut       bool   `json:"cut,omitempty"`
	Escape    *place `json:"escape,omitempty"`
	Neither   *place `json:"neither,omitempty"`
	UTF8Line  int64  `json:"utf8Line,omitempty"`
	Either    int64  `json:"either,omitempty"`
	First     int64  `json:"first,omitempty"`
	Others    int64  `json:"others,omitempty"`
	Japanese  bool   `json:"japanese,omitempty"`
	NotEUC    bool   `json:"notEUC,omitempty"`
	HalfWidth int64  `json:"halfWidth,omitempty"`
	FullWidth int64  `json:"fullWidth,omitempty"`
}

// found returns the evidence so far.
func (e *evidence) found() Evidence {
	return Evidence{e.offset, e.lines, e.invalid, e.cut, e.escape, e.neither, e.utf8Line, e.either, e.first, e.others,
		e.japanese, e.notEUC, e.halfWidth, e.fullWidth}
}

// add adds the evidence of the lines that follow.
func (e *evidence) add(x Evidence) {
	moved := func(p *place) *place {
		if p == nil {
			return nil
		}
		return &place{Line: e.lines + p.Line, Offset: e.offset + p.Offset, Value: p.Value}
	}
	if e.invalid == nil && x.Invalid != nil {
		e.invalid, e.cut = moved(x.Invalid), x.Cut
	}
	if e.escape == nil {
		e.escape = moved(x.Escape)
	}
	if e.neither == nil {
		e.neither = moved(x.Neither)
	}
	if e.utf8Line == 0 && x.UTF8Line > 0 {
		e.utf8Line = e.lines + x.UTF8Line
	}
	if e.either == 0 && x.Either > 0 {
		e.first = e.lines + x.First
	}
	e.either, e.others = e.either+x.Either, e.others+x.Others
	e.halfWidth, e.fullWidth = e.halfWidth+x.HalfWidth, e.fullWidth+x.FullWidth
	e.japanese, e.notEUC = e.japanese || x.Japanese, e.notEUC || x.NotEUC
	e.offset, e.lines = e.offset+x.Bytes, e.lines+x.Lines
}
