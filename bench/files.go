package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stepback/engine/itemreader"
)

// files is an object store whose only object consists of numbered JSON lines, generated as they are read. Put
// writes to files in dir.
type files struct {
	dir   string
	lines int
}

// Get implements itemreader.Objects.
func (f *files) Get(context.Context, string, string, string, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(&lines{left: f.lines}), -1, nil
}

// List implements itemreader.Objects.
func (f *files) List(context.Context, string, string, string) ([]itemreader.ListedObject, string, error) {
	return nil, "", nil
}

// Put implements resultwriter.Objects.
func (f *files) Put(_ context.Context, _, key string, body io.ReadSeeker, _ int64) error {
	out, err := os.Create(filepath.Join(f.dir, strings.ReplaceAll(key, "/", "_")))
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, body); err != nil {
		_ = out.Close() // the first error is the one to report
		return err
	}
	return out.Close()
}

// lines generates JSON lines.
type lines struct {
	left int
	rest []byte
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) < len(p) && l.left > 0 {
		l.rest = append(l.rest, `{"row":`...)
		l.rest = strconv.AppendInt(l.rest, int64(l.left), 10)
		l.rest = append(l.rest, "}\n"...)
		l.left--
	}
	n := copy(p, l.rest)
	l.rest = append(l.rest[:0], l.rest[n:]...)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
