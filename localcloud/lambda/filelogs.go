package lambda

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// FileLogs appends the log of each function to DIR/NAME.log.
type FileLogs struct {
	dir   string
	mu    sync.Mutex
	files map[string]*os.File
	err   error
}

// OpenFileLogs makes the directory dir, if need be, for the logs.
func OpenFileLogs(dir string) (*FileLogs, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return &FileLogs{dir: dir, files: map[string]*os.File{}}, nil
}

// WriteLog appends lines in one write. A log that cannot be written stops no
// function; Close tells the first reason.
func (l *FileLogs) WriteLog(function string, lines []byte) {
	f, err := l.file(function)
	if err == nil {
		_, err = f.Write(lines)
	}
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

func (l *FileLogs) file(function string) (*os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.files[function]; f != nil {
		return f, nil
	}
	f, err := os.OpenFile(filepath.Join(l.dir, filepath.Base(function)+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		l.files[function] = f
	}
	return f, err
}

// Close closes the files and returns the first error of any write.
func (l *FileLogs) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.err
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	clear(l.files)
	return err
}
