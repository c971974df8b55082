package csvfile

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"stepback/csvimport"
)

// Writer writes rows so that AWS's ItemReader reads exactly what was written: UTF-8, commas, LF, quotes where needed,
// and every backslash doubled, because that reader treats a backslash as an escape and drops a single one.
type Writer struct {
	out   *bufio.Writer
	plain bool
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: bufio.NewWriterSize(out, writerBytes)} }

const writerBytes = 64 << 10

// NewPlainWriter returns a Writer that leaves backslashes as they are (RFC 4180), for files that a Reader reads.
func NewPlainWriter(out io.Writer) *Writer {
	return &Writer{out: bufio.NewWriterSize(out, writerBytes), plain: true}
}

// Write adds one row.
func (w *Writer) Write(values ...string) error {
	for i, v := range values {
		if i > 0 {
			w.out.WriteByte(',')
		}
		writeValue(w.out, v, w.plain)
	}
	return w.out.WriteByte('\n') // bufio.Writer returns its first error here
}

// Flush writes buffered data. It returns the first error of any Write.
func (w *Writer) Flush() error { return w.out.Flush() }

func writeValue(out *bufio.Writer, v string, plain bool) {
	if !strings.ContainsAny(v, "\",\n\r\\") {
		out.WriteString(v)
		return
	}
	quote := strings.ContainsAny(v, "\",\n\r")
	if quote {
		out.WriteByte('"')
	}
	for i := range len(v) {
		switch c := v[i]; {
		case c == '"':
			out.WriteString(`""`)
		case c == '\\' && !plain:
			out.WriteString(`\\`)
		default:
			out.WriteByte(c)
		}
	}
	if quote {
		out.WriteByte('"')
	}
}

// Normalise writes the copy of a file that the ItemReader reads. Its columns are user_id, login_count, post_count,
// line and problem, and letter if the file has that column. line is the row's line in the uploaded file. problem is
// empty, or says why the row must be rejected. Normalise writes every row except those for which leftOut returns true;
// nil leaves out none. It returns the number of rows in the file.
func Normalise(r *Reader, out io.Writer, leftOut func(row int64) bool) (int64, error) {
	w := NewWriter(out)
	columns := []string{"user_id", "login_count", "post_count", "line", "problem", "letter"}
	if !r.header.lettered {
		columns = columns[:5]
	}
	if err := w.Write(columns...); err != nil {
		return 0, err
	}
	var rows int64
	for {
		row, err := r.Next()
		if err == io.EOF {
			return rows, w.Flush()
		}
		if err != nil {
			return rows, err
		}
		rows++
		if leftOut != nil && leftOut(row.Index) {
			continue
		}
		values := []string{row.UserID, row.LoginCount, row.PostCount, strconv.FormatInt(row.Line, 10),
			csvimport.JoinProblems(row.Problems), row.Letter}
		if err := w.Write(values[:len(columns)]...); err != nil {
			return rows, err
		}
	}
}
