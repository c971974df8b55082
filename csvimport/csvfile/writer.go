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
	out *bufio.Writer
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: bufio.NewWriterSize(out, 64<<10)} }

// Write adds one row.
func (w *Writer) Write(values ...string) error {
	for i, v := range values {
		if i > 0 {
			w.out.WriteByte(',')
		}
		writeValue(w.out, v)
	}
	return w.out.WriteByte('\n') // bufio.Writer returns its first error here
}

// Flush writes buffered data. It returns the first error of any Write.
func (w *Writer) Flush() error { return w.out.Flush() }

func writeValue(out *bufio.Writer, v string) {
	if !strings.ContainsAny(v, "\",\n\r\\") {
		out.WriteString(v)
		return
	}
	quote := strings.ContainsAny(v, "\",\n\r")
	if quote {
		out.WriteByte('"')
	}
	for i := range len(v) {
		switch v[i] {
		case '"':
			out.WriteString(`""`)
		case '\\':
			out.WriteString(`\\`)
		default:
			out.WriteByte(v[i])
		}
	}
	if quote {
		out.WriteByte('"')
	}
}

// Normalise writes the copy of a file that the ItemReader reads. Its columns are user_id, login_count, post_count,
// line and problem. line is the row's line in the uploaded file. problem is empty, or says why the row must be
// rejected. Normalise writes every row and returns the number of rows.
func Normalise(r *Reader, out io.Writer) (int64, error) {
	w := NewWriter(out)
	if err := w.Write("user_id", "login_count", "post_count", "line", "problem"); err != nil {
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
		err = w.Write(row.UserID, row.LoginCount, row.PostCount, strconv.FormatInt(row.Line, 10),
			csvimport.JoinProblems(row.Problems))
		if err != nil {
			return rows, err
		}
		rows++
	}
}
