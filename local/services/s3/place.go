package s3

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stepback/internal/atomicfile"
	"stepback/internal/objectevent"
	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// place stores a received body as the content of the object key. allowed, if not nil, receives the current version
// (nil if there is none) and may return an error, which stops the change. Readers see the old object or the new
// one, never a mixture. The caller announces the object, and settles the notice.
func (s *store) place(bucket, key string, b *body, reason objectevent.Reason, allowed func(*version) error) (version,
	*notice, error) {
	defer s.placing(bucket, key)()
	if err := s.requireBucket(bucket); err != nil {
		return version{}, nil, err
	}
	current, err := s.current(bucket, key)
	prepare := s.prepareRecord
	if damaged := (*inventory.DamagedError)(nil); errors.As(err, &damaged) {
		current, err = nil, nil // it is replaced
	} else if current == nil {
		prepare = s.prepareFirstRecord
	}
	if err != nil {
		return version{}, nil, s.storageError(err)
	}
	if allowed != nil {
		if err := allowed(current); err != nil {
			return version{}, nil, err
		}
	}
	next := version{Size: b.size, ETag: b.etag, CRC: b.crc, Headers: b.headers, Checksum: b.checksum, Tags: b.tags,
		StorageClass: b.storageClass, CustomerKey: b.customerKey, Retention: b.retention, LegalHold: b.legalHold,
		ACL:   b.acl,
		Parts: b.parts, Upload: b.upload}
	if next.Modified, err = s.stamp(b.path); err != nil {
		return version{}, nil, s.storageError(err)
	}
	if next.ID, err = s.prepareReplacement(bucket, key, current); err != nil {
		return version{}, nil, s.storageError(err)
	}
	r := record{Key: key, Versions: []version{next}}
	if current != nil {
		r.Versions = append(r.Versions, *current)
	}
	recorded, err := prepare(bucket, r)
	if err != nil {
		return version{}, nil, s.storageError(err)
	}
	n, err := s.note(notice{Event: createdBy[reason], Bucket: bucket, Key: key, Version: next, Reason: reason})
	if err != nil {
		return version{}, nil, s.storageError(err)
	}
	if err := s.moveIntoPlace(bucket, key, b.path); err != nil {
		s.settle(n, true)
		return version{}, nil, s.storageError(err)
	}
	b.placed = true
	recorded()
	return next, n, nil
}

// current returns the current version of key, or nil if there is none.
func (s *store) current(bucket, key string) (*version, error) {
	info, err := s.findObject(bucket, key)
	if isCode(err, "NoSuchKey") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, known, err := s.lookup(bucket, key, info)
	if err != nil {
		return nil, err
	}
	if known {
		return &v, nil
	}
	f, info, err := s.openObject(bucket, key)
	if isCode(err, "NoSuchKey") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v = version{Size: info.Size(), Modified: info.ModTime().UTC()}
	v.ETag, err = hashFrom(f)
	return &v, err
}

// moveIntoPlace renames the file at path to the object's path.
func (s *store) moveIntoPlace(bucket, key, path string) error {
	plain, beside := s.objectPaths(bucket, key)
	if _, err := os.Lstat(beside); err != nil {
		err := s.move(path, plain)
		if err == nil {
			return nil
		}
		if _, gone := os.Lstat(path); gone != nil {
			return err // the file has been moved
		}
	}
	// A directory is missing or has the object's name, or an object has the name of a directory.
	target, err := s.placeOf(bucket, key)
	if err != nil {
		return err
	}
	return s.move(path, target)
}

// move renames a file. If the store is durable, the new name is on disk afterwards.
func (s *store) move(from, to string) error {
	if s.sync {
		return atomicfile.Move(from, to)
	}
	return os.Rename(from, to)
}

// placeOf returns the path for the object key and creates the directories it needs. If a directory has the object's
// name, the object gets a suffix; if an object has the name of a required directory, that object is renamed with the
// suffix.
func (s *store) placeOf(bucket, key string) (string, error) {
	plain, beside := s.objectPaths(bucket, key)
	if err := s.makeParents(bucket, plain); err != nil {
		return "", err
	}
	if _, err := os.Lstat(beside); err == nil {
		return beside, nil
	}
	info, err := os.Stat(plain)
	if err == nil && info.IsDir() && os.Remove(plain) != nil { // an empty one is removed
		return beside, nil //nolint:nilerr // it is not empty
	}
	return plain, nil
}

func (s *store) makeParents(bucket, path string) error {
	dir := filepath.Dir(path)
	err := os.MkdirAll(dir, ownerfs.Dir)
	if err == nil || !errors.Is(err, fs.ErrExist) && !isNotDirectory(err) {
		return err
	}
	base := s.bucketDir(bucket)
	below, _ := filepath.Rel(base, dir)
	for _, element := range strings.Split(filepath.ToSlash(below), "/") {
		base = filepath.Join(base, element)
		if info, err := os.Lstat(base); err == nil && !info.IsDir() {
			if err := os.Rename(base, base+objectSuffix); err != nil {
				return err
			}
		}
	}
	return os.MkdirAll(dir, ownerfs.Dir)
}
