package pebble

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/journal"
)

// documentPrefix starts the keys of documents.
const documentPrefix = "d/"

// PutDocument stores a small document beside the executions, for components that share the directory with them. It
// replaces an earlier document under the same key. The document is on the disk when PutDocument returns.
func (j *Journal) PutDocument(key string, value []byte) error {
	return j.await(func(b *pebble.Batch) error { return b.Set([]byte(documentPrefix+key), value, nil) })
}

// DeleteDocument removes a document, if it exists, and returns once that is on the disk.
func (j *Journal) DeleteDocument(key string) error {
	return j.await(func(b *pebble.Batch) error { return b.Delete([]byte(documentPrefix+key), nil) })
}

func (j *Journal) await(fill func(*pebble.Batch) error) error {
	done := make(chan error, 1)
	j.committer.add(fill, func(err error) { done <- err })
	return <-done
}

// Document returns a document, or journal.ErrNotFound.
func (j *Journal) Document(key string) ([]byte, error) {
	v, closer, err := j.db.Get([]byte(documentPrefix + key))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, fmt.Errorf("%w: document %s", journal.ErrNotFound, key)
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return slices.Clone(v), nil
}

// EachDocument calls each with the documents whose key begins with prefix, in the order of their keys, until each
// returns an error.
func (j *Journal) EachDocument(ctx context.Context, prefix string, each func(key string, value []byte) error) error {
	for it, err := range j.scan(ctx, documentPrefix+prefix) {
		if err == nil {
			err = each(string(it.Key()[len(documentPrefix):]), slices.Clone(it.Value()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
