package s3

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// turns makes checking and replacing the current object one step, with a lock for each path below the root. A change of
// an object excludes other changes of the object and of objects below its path, such as a/b below a, and shares the
// paths above it: objects of other names are changed concurrently. Locks are taken from the top to the bottom, so that
// changes never wait for each other in a circle. They are held for a few renames, never while a body is transferred.
type turns struct {
	mu    sync.Mutex
	paths map[string]*pathLock
}

// pathLock is the lock of a path. users counts the changes that have it or wait for it.
type pathLock struct {
	sync.RWMutex
	path  string
	users int
}

// take shares the paths above path, and takes path alone. The returned function gives them back.
func (t *turns) take(path string) (end func()) {
	var above []*pathLock
	for i := range len(path) {
		if path[i] == '/' {
			l := t.lockOf(path[:i])
			l.RLock()
			above = append(above, l)
		}
	}
	own := t.lockOf(path)
	own.Lock()
	return func() {
		own.Unlock()
		t.leave(own)
		for _, l := range above {
			l.RUnlock()
			t.leave(l)
		}
	}
}

func (t *turns) lockOf(path string) *pathLock {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.paths[path]
	if l == nil {
		if t.paths == nil {
			t.paths = map[string]*pathLock{}
		}
		l = &pathLock{path: path}
		t.paths[path] = l
	}
	l.users++
	return l
}

// leave forgets a lock that no change has or waits for.
func (t *turns) leave(l *pathLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(t.paths, l.path)
	}
}

// turn waits until no other change of an object runs. The caller must call end.
func (s *store) turn(bucket, key string) (end func()) {
	return s.turns.take(bucket + "/" + keyPath(key))
}

// placing is like turn for a change that puts a file at the object's path. If an object has the name of a directory on
// the way, which is then renamed, no other change below the path's first element runs.
func (s *store) placing(bucket, key string) (end func()) {
	end = s.turn(bucket, key)
	if !s.isBlocked(bucket, key) {
		return end
	}
	end()
	return s.turns.take(s.top(bucket, key))
}

// top returns the path of the first element of an object's path.
func (s *store) top(bucket, key string) string {
	first, _, _ := strings.Cut(keyPath(key), "/")
	return bucket + "/" + first
}

// isBlocked reports whether an object has the name of a directory on the way to another object. Until the turn ends,
// this does not change.
func (s *store) isBlocked(bucket, key string) bool {
	path := keyPath(key)
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(s.bucketDir(bucket), filepath.FromSlash(path[:i])))
		if err != nil {
			return !os.IsNotExist(err)
		}
		if !info.IsDir() {
			return true
		}
	}
	return false
}

// prune removes the directories of a deleted object that are empty. The caller has ended its turn.
func (s *store) prune(bucket, key string) {
	plain, _ := s.objectPaths(bucket, key)
	dir, records := filepath.Dir(plain), filepath.Dir(s.recordPath(bucket, key))
	if dir == s.bucketDir(bucket) || !isEmpty(dir) && !isEmpty(records) {
		return
	}
	defer s.turns.take(s.top(bucket, key))()
	prune(dir, s.bucketDir(bucket))
	prune(records, s.metaDir(bucket))
}

// isEmpty reports whether a directory exists and has no entry.
func isEmpty(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	_, err = d.Readdirnames(1)
	return errors.Is(err, io.EOF)
}
