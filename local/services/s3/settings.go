package s3

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"stepback/internal/ownerfs"
)

// settingsCache holds the settings of buckets that were read or changed. Its lock is never held while a file is read or
// written: changes of a bucket take turns, and readers wait for none.
type settingsCache struct {
	mu    sync.Mutex
	known map[string]map[string]string // never modified in place
	reads map[*settingsRead]struct{}   // running
	turns map[string]chan struct{}     // closed at the end of a running change
}

// settingsRead is a read of a bucket's file. It is outdated if the bucket's settings have changed since it began.
type settingsRead struct {
	bucket   string
	outdated bool
}

// get returns the known settings of a bucket. If they are not known, the caller reads them and passes them to keep.
func (c *settingsCache) get(bucket string) (all map[string]string, read *settingsRead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if all, ok := c.known[bucket]; ok {
		return all, nil
	}
	if c.reads == nil {
		c.reads = map[*settingsRead]struct{}{}
	}
	read = &settingsRead{bucket: bucket}
	c.reads[read] = struct{}{}
	return nil, read
}

// has reports whether the known settings of a bucket include one.
func (c *settingsCache) has(bucket, setting string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[bucket][setting] != ""
}

// keep ends a read and stores its result; nil for none. It returns false if the result is outdated.
func (c *settingsCache) keep(read *settingsRead, all map[string]string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reads, read)
	if all != nil && !read.outdated {
		c.put(read.bucket, all)
	}
	return !read.outdated
}

func (c *settingsCache) put(bucket string, all map[string]string) {
	if c.known == nil {
		c.known = map[string]map[string]string{}
	}
	c.known[bucket] = all
}

// changed replaces the cached settings of a bucket after a change. If all is nil, it removes them from the cache.
func (c *settingsCache) changed(bucket string, all map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.reads {
		r.outdated = r.outdated || r.bucket == bucket
	}
	if all == nil {
		delete(c.known, bucket)
		return
	}
	c.put(bucket, all)
}

// turn waits until no other caller changes the bucket's settings, and keeps others waiting until the caller calls end.
func (c *settingsCache) turn(bucket string) (end func()) {
	own := make(chan struct{})
	for {
		c.mu.Lock()
		running, busy := c.turns[bucket]
		if !busy {
			if c.turns == nil {
				c.turns = map[string]chan struct{}{}
			}
			c.turns[bucket] = own
		}
		c.mu.Unlock()
		if !busy {
			break
		}
		<-running
	}
	return func() {
		c.mu.Lock()
		delete(c.turns, bucket)
		c.mu.Unlock()
		close(own)
	}
}

// settingsOf returns the settings of a bucket, which it reads from disk only once. The result must not be modified.
func (s *store) settingsOf(bucket string) (map[string]string, error) {
	for {
		all, read := s.settings.get(bucket)
		if read == nil {
			return all, nil
		}
		all, err := s.readSettings(bucket)
		if err != nil {
			s.settings.keep(read, nil)
			return nil, err
		}
		if s.settings.keep(read, all) {
			return all, nil
		}
	}
}

// readSettings reads the settings of a bucket from disk; there are none if it has no file.
func (s *store) readSettings(bucket string) (map[string]string, error) {
	all := map[string]string{}
	text, err := s.files.ReadFile(filepath.Join(s.metaDir(bucket), settingsFile))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return all, nil
}

// changeSettings changes settings together; an empty text removes one.
func (s *store) changeSettings(bucket string, changes map[string]string) error {
	defer s.settings.turn(bucket)()
	all, err := s.settingsOf(bucket)
	if err != nil {
		return s.storageError(err)
	}
	made := map[string]string{}
	maps.Copy(made, all)
	for name, text := range changes {
		if made[name] = text; text == "" {
			delete(made, name)
		}
	}
	kept, err := json.Marshal(made)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.metaDir(bucket), ownerfs.Dir); err != nil {
		return s.storageError(err)
	}
	note, err := s.replaceSealed(filepath.Join(s.metaDir(bucket), settingsFile), kept)
	if err != nil {
		return s.storageError(err)
	}
	note()
	s.settings.changed(bucket, made)
	return nil
}

// parsedSettings holds settings that have been parsed, by their texts: almost every request needs several settings of
// its bucket.
type parsedSettings struct {
	mu    sync.Mutex
	known map[settingText]any
}

// settingText is the text of the setting with a name.
type settingText struct{ name, text string }

// mostParsed is the maximum number of settings in parsedSettings.
const mostParsed = 1000

// parseSetting returns the setting with a name, parsed from its XML; the zero value if the bucket does not have it. T
// depends on name alone. The caller must not modify the result, which others read too.
func parseSetting[T any](s *store, all map[string]string, name string) (*T, error) {
	of := settingText{name, all[name]}
	if of.text == "" {
		return new(T), nil
	}
	s.parsed.mu.Lock()
	known, ok := s.parsed.known[of].(*T)
	s.parsed.mu.Unlock()
	if ok {
		return known, nil
	}
	made := new(T)
	if err := xml.Unmarshal([]byte(of.text), made); err != nil {
		return made, err
	}
	s.parsed.mu.Lock()
	defer s.parsed.mu.Unlock()
	if s.parsed.known == nil || len(s.parsed.known) >= mostParsed {
		s.parsed.known = map[settingText]any{}
	}
	s.parsed.known[of] = made
	return made, nil
}

// forgetSettings removes the cached settings of a deleted bucket.
func (s *store) forgetSettings(bucket string) { s.settings.changed(bucket, nil) }
