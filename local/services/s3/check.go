package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/local/services/inventory"
)

// Check reads all objects in a directory of buckets, with their descriptions, noncurrent versions, unfinished
// uploads and notices, and calls problem for each damaged file. files is the inventory that has them.
func Check(dir string, files *inventory.Files, problem func(error)) error {
	s, buckets, err := openFor(dir, files)
	if err != nil {
		return err
	}
	for _, bucket := range buckets {
		w := walker{visit: func(key, _ string) (bool, error) {
			if err := s.checkObject(bucket, key); err != nil {
				problem(err)
			}
			return true, nil
		}}
		if _, err := w.dir(s.bucketDir(bucket), ""); err != nil {
			return err
		}
		if err := s.checkBucket(bucket, problem); err != nil {
			return err
		}
	}
	if err := s.checkLostBuckets(buckets, problem); err != nil {
		return err
	}
	if err := s.checkNotices(problem); err != nil {
		return err
	}
	return s.checkUploads(problem)
}

// checkLostBuckets reads the descriptions of objects in buckets that do not exist.
func (s *store) checkLostBuckets(buckets []string, problem func(error)) error {
	known, err := s.files.Below(s.metaDir(""))
	if err != nil {
		return err
	}
	for _, path := range known {
		below, err := filepath.Rel(s.metaDir(""), path)
		if err != nil {
			return err
		}
		bucket, _, _ := strings.Cut(filepath.ToSlash(below), "/")
		if !slices.Contains(buckets, bucket) {
			problem(&inventory.DamagedError{Path: s.bucketDir(bucket), Why: "the bucket is missing, but not " + path})
			buckets = append(buckets, bucket)
		}
	}
	return nil
}

// checkObject reads the current version of an object.
func (s *store) checkObject(bucket, key string) error {
	f, info, err := s.openObject(bucket, key)
	if isCode(err, "NoSuchKey") {
		return nil // deleted in the meantime
	}
	if err != nil {
		return err
	}
	defer f.Close()
	v, known, err := s.lookup(bucket, key, info)
	switch {
	case err != nil:
		return err
	case !known:
		r, err := s.readRecord(bucket, key)
		if err != nil || len(r.Versions) == 0 {
			return err // placed by hand
		}
		if _, same, err := r.sameContent(f, info); same || err != nil {
			return err
		}
		return changedOutside(f.Name(), r.Versions[0].ETag)
	case v.Outside != "":
		return changedOutside(f.Name(), v.Outside)
	}
	_, err = io.Copy(io.Discard, verified(f, &v))
	return err
}

func changedOutside(path, etag string) error {
	return &inventory.DamagedError{Path: path, Why: fmt.Sprintf("it was changed, but not through S3, since the object with the ETag %s was stored", etag)}
}

// checkBucket reads the descriptions, the settings and the noncurrent versions of a bucket.
func (s *store) checkBucket(bucket string, problem func(error)) error {
	known, err := s.files.Below(s.metaDir(bucket))
	if err != nil {
		return err
	}
	for _, path := range known {
		text, err := s.files.ReadFile(path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				problem(err)
			}
			continue
		}
		if strings.HasSuffix(path, recordSuffix) {
			s.checkPlace(bucket, path, text, problem)
		}
	}
	if err := s.files.Check(s.versionsDir(bucket), problem); err != nil {
		return err
	}
	shelves, err := os.ReadDir(s.versionsDir(bucket))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range shelves {
		dir := filepath.Join(s.versionsDir(bucket), e.Name())
		h, err := s.readShelfFile(filepath.Join(dir, shelfFile), "")
		if err != nil {
			if _, known, _ := s.files.Entry(filepath.Join(dir, shelfFile)); !known { // otherwise it is reported above
				problem(err)
			}
			continue
		}
		for _, entry := range h.Entries {
			if entry.Marker {
				continue
			}
			if err := checkFile(filepath.Join(dir, shownID(entry.ID)), &entry.version); err != nil {
				problem(err)
			}
		}
	}
	return nil
}

// checkPlace checks that a described object exists.
func (s *store) checkPlace(bucket, path string, text []byte, problem func(error)) {
	r, err := parseRecord(text)
	if err != nil {
		problem(&inventory.DamagedError{Path: path, Why: err.Error()})
		return
	}
	f, _, err := s.openObject(bucket, r.Key)
	if err == nil {
		_ = f.Close()
		return
	}
	if err := s.missingObject(bucket, r.Key); err != nil {
		problem(err)
	}
}

// checkFile reads the file of a noncurrent version.
func checkFile(path string, v *version) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &inventory.DamagedError{Path: path, Why: "it is missing"}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() != v.Size {
		return &inventory.DamagedError{Path: path, Why: fmt.Sprintf("it has %d bytes, and had %d", info.Size(), v.Size)}
	}
	_, err = io.Copy(io.Discard, verified(f, v))
	return err
}

// checkUploads reads the parts of unfinished uploads.
func (s *store) checkUploads(problem func(error)) error {
	known, err := s.files.Below(s.uploadsDir())
	if err != nil {
		return err
	}
	for _, path := range known {
		if _, err := s.files.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problem(err)
		}
	}
	uploads, err := os.ReadDir(s.uploadsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, u := range uploads {
		parts, err := s.parts(u.Name())
		if err != nil {
			return err
		}
		for _, p := range parts {
			if err := checkFile(p.path, &version{Size: p.size, ETag: p.etag}); err != nil {
				problem(err)
			}
		}
	}
	return nil
}
