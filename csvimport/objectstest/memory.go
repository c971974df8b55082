// Package objectstest implements csvimport.Objects in memory, for tests.
package objectstest

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/csvimport"
	"stepback/statemachine"
)

// Memory is an object store. Its zero value is empty. Each object is one second newer than the previous one.
type Memory struct {
	mu      sync.Mutex
	objects map[csvimport.Location]object
	clock   time.Time
	gets    int
}

type object struct {
	content     []byte
	contentType string
	modified    time.Time
}

// Set stores an object and returns it as a source.
func (m *Memory) Set(at csvimport.Location, content, contentType string) csvimport.Source {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects == nil {
		m.objects = map[csvimport.Location]object{}
		m.clock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	m.clock = m.clock.Add(time.Second)
	o := object{content: []byte(content), contentType: contentType, modified: m.clock}
	m.objects[at] = o
	return csvimport.Source{Bucket: at.Bucket, Key: at.Key, ETag: o.etag()}
}

// Content returns an object's content, and whether the object exists.
func (m *Memory) Content(at csvimport.Location) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[at]
	return string(o.content), ok
}

// Gets returns how many objects have been opened.
func (m *Memory) Gets() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gets
}

func (o object) etag() string {
	sum := md5.Sum(o.content)
	return hex.EncodeToString(sum[:])
}

// Get implements csvimport.Objects.
func (m *Memory) Get(_ context.Context, at csvimport.Location, etag string) (*csvimport.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[at]
	switch {
	case !ok:
		return nil, csvimport.Fail(statemachine.CSVFileNotFound, "%s does not exist", at)
	case etag != "" && etag != o.etag():
		return nil, csvimport.Fail(statemachine.CSVFileChanged, "%s was replaced", at)
	}
	m.gets++
	return &csvimport.Object{Body: io.NopCloser(bytes.NewReader(o.content)), Size: int64(len(o.content)),
		ETag: o.etag(), ContentType: o.contentType}, nil
}

// GetFrom implements csvimport.Objects.
func (m *Memory) GetFrom(ctx context.Context, at csvimport.Location, etag string, offset int64) (*csvimport.Object, error) {
	o, err := m.Get(ctx, at, etag)
	if err == nil {
		_, err = io.CopyN(io.Discard, o.Body, offset)
	}
	return o, err
}

// Join implements csvimport.Objects.
func (m *Memory) Join(ctx context.Context, to csvimport.Location, head []byte, pieces []csvimport.Piece,
	contentType string) error {
	content := slices.Clone(head)
	for _, p := range pieces {
		o, err := m.Get(ctx, p.Location, "")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(o.Body)
		if err != nil {
			return err
		}
		if int64(len(text)) != p.Size {
			return csvimport.Fail(csvimport.UnexpectedError, "%s: %d bytes were announced, it has %d", p.Location, p.Size,
				len(text))
		}
		content = append(content, text...)
	}
	m.Set(to, string(content), contentType)
	return nil
}

// Put implements csvimport.Objects.
func (m *Memory) Put(_ context.Context, at csvimport.Location, body io.ReadSeeker, size int64,
	contentType string) error {
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if int64(len(content)) != size {
		return csvimport.Fail(csvimport.UnexpectedError, "%s: %d bytes were announced, %d were received", at, size, len(content))
	}
	m.Set(at, string(content), contentType)
	return nil
}

// Copy implements csvimport.Objects.
func (m *Memory) Copy(_ context.Context, from csvimport.Source, to csvimport.Location, contentType string) error {
	at := csvimport.Location{Bucket: from.Bucket, Key: from.Key}
	m.mu.Lock()
	o, ok := m.objects[at]
	m.mu.Unlock()
	switch {
	case !ok:
		return csvimport.Fail(statemachine.CSVFileNotFound, "%s does not exist", at)
	case from.ETag != o.etag():
		return csvimport.Fail(statemachine.CSVFileChanged, "%s was replaced", at)
	}
	m.Set(to, string(o.content), contentType)
	return nil
}

func (o object) info(key string) csvimport.ObjectInfo {
	return csvimport.ObjectInfo{Key: key, ETag: o.etag(), Size: int64(len(o.content)), LastModified: o.modified}
}

// Head implements csvimport.Objects.
func (m *Memory) Head(_ context.Context, at csvimport.Location) (csvimport.ObjectInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[at]
	if !ok {
		return csvimport.ObjectInfo{}, csvimport.Fail(statemachine.CSVFileNotFound, "%s does not exist", at)
	}
	info := o.info(at.Key)
	info.LastModified = time.Time{}
	return info, nil
}

// List implements csvimport.Objects.
func (m *Memory) List(_ context.Context, bucket, prefix string, visit func(csvimport.ObjectInfo) error) error {
	m.mu.Lock()
	var found []csvimport.ObjectInfo
	for at, o := range m.objects {
		if at.Bucket == bucket && strings.HasPrefix(at.Key, prefix) {
			found = append(found, o.info(at.Key))
		}
	}
	m.mu.Unlock()
	slices.SortFunc(found, func(a, b csvimport.ObjectInfo) int { return strings.Compare(a.Key, b.Key) })
	for _, info := range found {
		if err := visit(info); err != nil {
			return err
		}
	}
	return nil
}
