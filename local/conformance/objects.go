package conformance

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/engine/itemreader"
)

// Objects is an object store in memory.
type Objects struct {
	mu   sync.Mutex
	kept map[string]map[string][]byte
}

// Put implements resultwriter.Objects.
func (o *Objects) Put(_ context.Context, bucket, key string, body io.ReadSeeker, _ int64) error {
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		o.kept = map[string]map[string][]byte{}
	}
	if o.kept[bucket] == nil {
		o.kept[bucket] = map[string][]byte{}
	}
	o.kept[bucket][key] = content
	return nil
}

// Get implements itemreader.Objects.
func (o *Objects) Get(_ context.Context, bucket, key, _, _ string) (io.ReadCloser, int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	content, ok := o.kept[bucket][key]
	if !ok {
		return nil, 0, fmt.Errorf("no object s3://%s/%s", bucket, key)
	}
	return io.NopCloser(bytes.NewReader(content)), int64(len(content)), nil
}

// List implements itemreader.Objects.
func (o *Objects) List(_ context.Context, bucket, prefix, _ string) ([]itemreader.ListedObject, string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var page []itemreader.ListedObject
	for key, content := range o.kept[bucket] {
		if strings.HasPrefix(key, prefix) {
			page = append(page, itemreader.ListedObject{
				Key: key, ETag: fmt.Sprintf("%q", fmt.Sprintf("%x", md5.Sum(content))), Size: int64(len(content)),
				LastModified: time.Now(),
			})
		}
	}
	slices.SortFunc(page, func(a, b itemreader.ListedObject) int { return strings.Compare(a.Key, b.Key) })
	return page, "", nil
}
