package resultwriter

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

const (
	spoolBuffer = 256 << 10
	spoolName   = "map-results-*"
)

// RemoveSpools removes the temporary files that crashed processes left in a SpoolDir. The directory must not be in
// use.
func RemoveSpools(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, spoolName))
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// file is the file a spool writes to: a temporary file, or a substitute in tests.
type file interface {
	io.ReadWriteSeeker
	io.Closer
	Name() string
}

// spool collects the elements of the result files of one status, in temporary files of at most limit bytes.
type spool struct {
	create func() (file, error)
	limit  int64
	lines  bool // JSON Lines instead of an array

	parts []part
	out   *bufio.Writer
	bare  bool // the open part has no element yet
}

// part is one result file.
type part struct {
	file file
	size int64
}

// add appends elements that are already separated from each other. They stay together in one file.
func (s *spool) add(elements []byte) error {
	if n := len(s.parts); n == 0 || !s.bare && s.parts[n-1].size+int64(len(elements))+int64(len(",]")) > s.limit {
		if err := s.nextPart(); err != nil {
			return err
		}
	}
	if len(elements) == 0 {
		return nil
	}
	if !s.lines && !s.bare {
		if err := s.write([]byte{','}); err != nil {
			return err
		}
	}
	s.bare = false
	if err := s.write(elements); err != nil || !s.lines {
		return err
	}
	return s.write([]byte{'\n'})
}

func (s *spool) nextPart() error {
	if err := s.endPart(); err != nil {
		return err
	}
	f, err := s.create()
	if err != nil {
		return err
	}
	s.parts = append(s.parts, part{file: f})
	s.bare = true
	if s.out == nil {
		s.out = bufio.NewWriterSize(f, spoolBuffer)
	} else {
		s.out.Reset(f)
	}
	if s.lines {
		return nil
	}
	return s.write([]byte{'['})
}

// endPart completes the open part, if there is one.
func (s *spool) endPart() error {
	if len(s.parts) == 0 {
		return nil
	}
	if !s.lines {
		if err := s.write([]byte{']'}); err != nil {
			return err
		}
	}
	return s.out.Flush()
}

func (s *spool) write(text []byte) error {
	n, err := s.out.Write(text)
	s.parts[len(s.parts)-1].size += int64(n)
	return err
}

// remove deletes the temporary files.
func (s *spool) remove() error {
	all := make([]error, 0, 2*len(s.parts))
	for _, p := range s.parts {
		all = append(all, p.file.Close(), os.Remove(p.file.Name()))
	}
	s.parts = nil
	return errors.Join(all...)
}
