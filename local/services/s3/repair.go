package s3

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// Repair moves damaged objects, descriptions, settings, versions and uploads in a directory below the directory aside,
// and calls tell for each. An object whose description is lost is described anew when it is next read; its headers and
// tags are lost. A content that was changed without S3 is accepted.
func Repair(dir string, files *inventory.Files, aside string, tell func(error)) error {
	s, buckets, err := openFor(dir, files)
	if err != nil || len(buckets) == 0 {
		return err
	}
	if err := os.MkdirAll(s.tempDir(), ownerfs.Dir); err != nil {
		return err
	}
	for _, bucket := range buckets {
		var keys []string
		w := walker{visit: func(key, _ string) (bool, error) {
			keys = append(keys, key)
			return true, nil
		}}
		if _, err := w.dir(s.bucketDir(bucket), ""); err != nil {
			return err
		}
		for _, key := range keys {
			if err := s.repairObject(bucket, key, aside, tell); err != nil {
				return err
			}
		}
	}
	var damaged []error
	if err := Check(dir, files, func(err error) { damaged = append(damaged, err) }); err != nil {
		return err
	}
	return files.RepairEach(damaged, tell, func(path string) (string, error) {
		below, err := filepath.Rel(s.root, path)
		if err != nil {
			return "", err
		}
		switch kind, _, _ := strings.Cut(filepath.ToSlash(below), "/"); {
		case kind == ".versions":
			return s.repairVersion(path, aside)
		case kind == ".uploads":
			return "the unfinished upload is lost", files.Aside(aside, filepath.Dir(path))
		case kind == ".notices":
			return "the destinations of the bucket's notifications may not have been notified of a change of an object",
				files.Aside(aside, path)
		case filepath.Base(path) == bucketMark:
			return "the bucket's creation date is lost", files.Aside(aside, path)
		case strings.HasSuffix(path, recordSuffix):
			return "the object's headers and tags are lost", files.Aside(aside, path)
		case kind == ".meta":
			return "the bucket's settings are lost", files.Aside(aside, path)
		case below == kind:
			return "the bucket is lost", errors.Join(files.Aside(aside, s.metaDir(kind)), files.Aside(aside, s.versionsDir(kind)))
		}
		return "the object is lost", s.forgetMissing(path, aside)
	})
}

// repairObject repairs the current version of an object that exists.
func (s *store) repairObject(bucket, key, aside string, tell func(error)) error {
	problem := s.checkObject(bucket, key)
	var d *inventory.DamagedError
	if !errors.As(problem, &d) {
		return problem
	}
	return s.files.RepairEach([]error{problem}, tell, func(path string) (string, error) {
		if path == s.recordPath(bucket, key) {
			return "the object's headers and tags are lost", s.files.Aside(aside, path)
		}
		f, info, err := s.openObject(bucket, key)
		if err != nil {
			return "", err
		}
		defer f.Close()
		v, known, err := s.lookup(bucket, key, info)
		if err == nil && (!known || v.Outside != "") {
			if v, err = s.describe(bucket, key, f, info); err != nil {
				return "", err
			}
			v.Outside = ""
			return "the content that is there now is accepted", s.writeRecord(bucket, record{Key: key, Versions: []version{v}})
		}
		return "the object is lost", errors.Join(s.files.Aside(aside, f.Name()), s.files.Aside(aside, s.recordPath(bucket, key)))
	})
}

// forgetMissing removes the description of an object whose file, at path, does not exist.
func (s *store) forgetMissing(path, aside string) error {
	known, err := s.files.Below(s.metaDir(""))
	if err != nil {
		return err
	}
	for _, about := range known {
		text, err := s.files.ReadFile(about)
		if err != nil || !strings.HasSuffix(about, recordSuffix) {
			continue
		}
		r, err := parseRecord(text)
		if err != nil {
			continue
		}
		below, err := filepath.Rel(s.metaDir(""), about)
		if err != nil {
			return err
		}
		bucket, _, _ := strings.Cut(filepath.ToSlash(below), "/")
		if plain, _ := s.objectPaths(bucket, r.Key); plain == path {
			return s.files.Aside(aside, about)
		}
	}
	return nil
}

// repairVersion removes a damaged noncurrent version from its shelf, or a damaged shelf.
func (s *store) repairVersion(path, aside string) (loss string, err error) {
	dir := filepath.Dir(path)
	index := filepath.Join(dir, shelfFile)
	if path == index {
		return "the object's noncurrent versions are lost", s.files.Aside(aside, dir)
	}
	h, err := s.readShelfFile(index, "")
	if err != nil {
		return "", err
	}
	h.Entries = slices.DeleteFunc(h.Entries, func(e entry) bool {
		return !e.Marker &&
			shownID(e.ID) == filepath.Base(path)
	})
	if err := s.files.Aside(aside, path); err != nil {
		return "", err
	}
	below, err := filepath.Rel(filepath.Join(s.root, ".versions"), dir)
	if err != nil {
		return "", err
	}
	bucket, _, _ := strings.Cut(filepath.ToSlash(below), "/")
	return "this version of the object " + h.Key + " is lost", s.writeShelf(bucket, h)
}
