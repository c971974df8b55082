package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// DefaultLogBytes is how long the log of a function grows before it is rotated. One older log is kept beside it.
const DefaultLogBytes = 16 << 20

// oldLog is what the name of a rotated log ends in.
const oldLog = ".1"

// FileLogs appends the log of each function to DIR/NAME.log. A log that has grown too long becomes DIR/NAME.log.1, in
// the place of the one before.
type FileLogs struct {
	dir  string
	most int64

	mu    sync.Mutex
	files map[string]*logFile
	err   error
}

type logFile struct {
	*os.File
	size atomic.Int64
}

// OpenFileLogs makes the directory dir, if need be, for the logs, which are rotated after most bytes; 0 means
// DefaultLogBytes.
func OpenFileLogs(dir string, most int64) (*FileLogs, error) {
	if most <= 0 {
		most = DefaultLogBytes
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return &FileLogs{dir: dir, most: most, files: map[string]*logFile{}}, nil
}

// LogPath is where FileLogs in dir keeps the log of a function; older is the rotated one.
func LogPath(dir, function string) (path, older string) {
	path = filepath.Join(dir, filepath.Base(function)+".log")
	return path, path + oldLog
}

// WriteLog appends lines in one write. A log that cannot be written stops no function; Close tells the first reason.
func (l *FileLogs) WriteLog(function string, lines []byte) {
	err := fs.ErrClosed
	for errors.Is(err, fs.ErrClosed) { // by somebody who rotated it meanwhile
		var f *logFile
		if f, err = l.file(function); err != nil {
			break
		}
		if _, err = f.Write(lines); err == nil && f.size.Add(int64(len(lines))) > l.most {
			err = l.rotate(function, f)
			break
		}
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

func (l *FileLogs) file(function string) (*logFile, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.files[function]; f != nil {
		return f, nil
	}
	if l.files == nil {
		return nil, errors.New("the logs have been closed")
	}
	path, _ := LogPath(l.dir, function)
	opened, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat()
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	f := &logFile{File: opened}
	f.size.Store(info.Size())
	l.files[function] = f
	return f, nil
}

// rotate puts a log aside, unless somebody else has done so.
func (l *FileLogs) rotate(function string, full *logFile) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files[function] != full {
		return nil
	}
	delete(l.files, function)
	err := full.Close() // before the rename, for Windows
	path, older := LogPath(l.dir, function)
	return errors.Join(err, os.Rename(path, older))
}

// Close closes the files and returns the first error of any write.
func (l *FileLogs) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.err
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	l.files = nil
	return err
}
