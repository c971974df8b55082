package s3

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/johannesboyne/gofakes3"

	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// bucketMark is the file in a bucket's meta directory that has the bucket's creation date. In earlier versions the file
// was empty, and its modification time was the date.
const bucketMark = "%.bucket"

// bucketMarkText is the content of a bucketMark.
type bucketMarkText struct {
	Created time.Time `json:"created"`
}

// creationDate returns the creation date of a bucket. The date of a bucket without a mark, such as a directory that a
// user made, is the modification time of its directory.
func (s *store) creationDate(bucket string) (time.Time, error) {
	path := filepath.Join(s.metaDir(bucket), bucketMark)
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		if _, known, err := s.files.Entry(path); err != nil || !known {
			return info.ModTime(), err
		}
	}
	text, err := s.files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err := os.Stat(s.bucketDir(bucket))
		if err != nil {
			return time.Time{}, err
		}
		return info.ModTime(), nil
	}
	if err != nil {
		return time.Time{}, err
	}
	var m bucketMarkText
	if err := json.Unmarshal(text, &m); err != nil {
		return time.Time{}, &inventory.DamagedError{Path: path, Why: err.Error()}
	}
	return m.Created, nil
}

// ListBuckets returns the buckets, ordered by name.
func (s *store) ListBuckets() ([]gofakes3.BucketInfo, error) {
	entries, err := os.ReadDir(s.root)
	if err != nil {
		return nil, s.storageError(err)
	}
	var buckets []gofakes3.BucketInfo
	for _, e := range entries {
		if gofakes3.ValidateBucketName(e.Name()) != nil || !e.IsDir() {
			continue
		}
		created, err := s.creationDate(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return nil, s.storageError(err)
		}
		buckets = append(buckets, gofakes3.BucketInfo{Name: e.Name(),
			CreationDate: gofakes3.NewContentTime(created.UTC())})
	}
	return buckets, nil
}

// BucketExists reports whether a bucket exists. An invalid name never reaches the file system.
func (s *store) BucketExists(bucket string) (bool, error) {
	if gofakes3.ValidateBucketName(bucket) != nil {
		return false, nil //nolint:nilerr // the answer is no
	}
	info, err := os.Stat(s.bucketDir(bucket))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), s.storageError(err)
}

func (s *store) requireBucket(bucket string) error {
	exists, err := s.BucketExists(bucket)
	if err == nil && !exists {
		return gofakes3.BucketNotFound(bucket)
	}
	return err
}

// CreateBucket creates a bucket's directories. An existing bucket is an error except in us-east-1, as in S3.
func (s *store) CreateBucket(bucket string) error {
	if err := gofakes3.ValidateBucketName(bucket); err != nil {
		return err
	}
	err := os.Mkdir(s.bucketDir(bucket), ownerfs.Dir)
	if errors.Is(err, fs.ErrExist) {
		if s.region == DefaultRegion {
			return nil
		}
		return gofakes3.ErrorMessage(errAlreadyOwned,
			"Your previous request to create the named bucket succeeded and you already own it.")
	}
	if err != nil {
		return s.storageError(err)
	}
	if err := os.MkdirAll(s.metaDir(bucket), ownerfs.Dir); err != nil {
		return s.storageError(err)
	}
	text, err := json.Marshal(bucketMarkText{s.stamps.now().UTC()})
	if err != nil {
		return err
	}
	note, err := s.replaceSealed(filepath.Join(s.metaDir(bucket), bucketMark), text)
	if err != nil {
		return s.storageError(err)
	}
	note()
	return nil
}

// DeleteBucket deletes an empty bucket.
func (s *store) DeleteBucket(bucket string) error {
	if err := s.requireBucket(bucket); err != nil {
		return err
	}
	s.commit.Lock()
	defer s.commit.Unlock()
	empty := true
	w := walker{visit: func(string, string) (bool, error) { empty = false; return false, nil }}
	if _, err := w.dir(s.bucketDir(bucket), ""); err != nil {
		return s.storageError(err)
	}
	if old, err := s.shelves(bucket); err != nil {
		return s.storageError(err)
	} else if len(old) > 0 {
		empty = false
	}
	if !empty {
		return gofakes3.ResourceError(gofakes3.ErrBucketNotEmpty, bucket)
	}
	return s.storageError(s.removeBucket(bucket))
}

// ForceDeleteBucket deletes a bucket with everything in it.
func (s *store) ForceDeleteBucket(bucket string) error {
	if err := s.requireBucket(bucket); err != nil {
		return err
	}
	s.commit.Lock()
	defer s.commit.Unlock()
	return s.storageError(s.removeBucket(bucket))
}

func (s *store) removeBucket(bucket string) error {
	s.forgetSettings(bucket)
	for _, dir := range []string{s.metaDir(bucket), s.versionsDir(bucket)} {
		known, err := s.files.Below(dir)
		if err == nil {
			err = s.files.Forget(known...)
		}
		if err != nil {
			return err
		}
	}
	if err := os.RemoveAll(s.versionsDir(bucket)); err != nil {
		return err
	}
	if err := os.RemoveAll(s.bucketDir(bucket)); err != nil {
		return err
	}
	return os.RemoveAll(s.metaDir(bucket))
}
