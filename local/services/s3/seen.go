package s3

import (
	"io/fs"
	"os"
	"sync"
)

// mostSeen is the number of descriptions that are kept in memory. They take about 1 kB each.
const mostSeen = 1024

// seenRecords holds the descriptions of objects that were read lately. A description is valid as long as its file is
// the same one, with the same size and modification time: each change replaces the file.
type seenRecords struct {
	mu    sync.Mutex
	paths map[string]seenRecord
}

type seenRecord struct {
	file    fs.FileInfo
	version version // not modified: its maps and slices are shared
}

// find returns the version that a record's file described when it was read; ok is false if the record may have changed
// since, or describes another content. The file is nil if there is none.
func (s *seenRecords) find(path string, content fs.FileInfo) (v version, file fs.FileInfo, ok bool) {
	file, err := os.Stat(path)
	if err != nil {
		return version{}, nil, false
	}
	s.mu.Lock()
	seen, ok := s.paths[path]
	s.mu.Unlock()
	v = seen.version
	return v, file, ok && os.SameFile(seen.file, file) && seen.file.Size() == file.Size() &&
		seen.file.ModTime().Equal(file.ModTime()) && v.Size == content.Size() && v.Modified.Equal(content.ModTime())
}

// keep stores the version that a record describes. file is the record's file as it was before it was read.
func (s *seenRecords) keep(path string, file fs.FileInfo, v *version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths == nil || len(s.paths) >= mostSeen {
		s.paths = make(map[string]seenRecord)
	}
	s.paths[path] = seenRecord{file, *v}
}
