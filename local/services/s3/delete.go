package s3

import (
	"os"
	"path/filepath"

	"github.com/johannesboyne/gofakes3"
)

// DeleteObject deletes an object. As in S3, it succeeds if the object does not exist.
func (s *store) DeleteObject(bucket, key string) (gofakes3.ObjectDeleteResult, error) {
	if err := s.requireBucket(bucket); err != nil {
		return gofakes3.ObjectDeleteResult{}, err
	}
	result, err := s.deleteLatest(bucket, key)
	return result, s.storageError(err)
}

// DeleteMulti deletes several objects and returns the result for each.
func (s *store) DeleteMulti(bucket string, keys ...string) (gofakes3.MultiDeleteResult, error) {
	objects := make([]gofakes3.ObjectID, len(keys))
	for i, key := range keys {
		objects[i].Key = key
	}
	return s.DeleteMultiVersions(bucket, objects...)
}

// remove deletes an object, and reports whether it existed.
func (s *store) remove(bucket, key string) (gone bool, err error) {
	s.commit.Lock()
	defer s.commit.Unlock()
	return s.unlink(bucket, key)
}

// unlink deletes an object's file and record, and reports whether it existed. commit is held.
func (s *store) unlink(bucket, key string) (gone bool, err error) {
	if err := s.files.Forget(s.recordPath(bucket, key)); err != nil {
		return false, err
	}
	plain, beside := s.objectPaths(bucket, key)
	for _, path := range []string{plain, beside} {
		info, err := os.Lstat(path)
		if isMissing(err) || err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return gone, err
		}
		gone = true
	}
	recordPath := s.recordPath(bucket, key)
	if err := os.Remove(recordPath); err != nil && !isMissing(err) {
		return gone, err
	}
	prune(filepath.Dir(plain), s.bucketDir(bucket))
	prune(filepath.Dir(recordPath), s.metaDir(bucket))
	return gone, nil
}

// prune removes dir and its parents below top while they are empty.
func prune(dir, top string) {
	for len(dir) > len(top) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}
