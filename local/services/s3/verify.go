package s3

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// castagnoli is the table of CRC-32C, which processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newSum() hash.Hash { return crc32.New(castagnoli) }

// sumOf returns a hash and its expected value for a version's content: CRC-32C, or MD5 for an object of an earlier
// version that was uploaded in one part. The hash is nil if there is nothing to compare the content with.
func (v *version) sumOf() (hash.Hash, string) {
	const md5Digits = 2 * md5.Size
	switch {
	case v.CRC != "":
		return newSum(), v.CRC
	case len(v.ETag) == md5Digits:
		return md5.New(), v.ETag
	}
	return nil, ""
}

// sameContent returns the version that has the content of a file with another modification time, such as one that was
// restored from a backup. It rewinds the file.
func (r record) sameContent(f *os.File, info fs.FileInfo) (v version, same bool, err error) {
	for _, v := range r.Versions {
		sum, want := v.sumOf()
		if sum == nil || v.Size != info.Size() {
			continue
		}
		if _, err := io.Copy(sum, f); err != nil {
			return version{}, false, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return version{}, false, err
		}
		if hex.EncodeToString(sum.Sum(nil)) == want {
			v.Modified = info.ModTime().UTC()
			return v, true, nil
		}
	}
	return version{}, false, nil
}

// verifying reads a version's content and compares it with its checksum. At the end it withholds the last bytes if they
// differ, so that no reader takes the content for complete.
type verifying struct {
	io.Closer
	file *os.File
	left int64
	sum  hash.Hash
	want string
	// abort ends the request that a damaged content is being sent for. Otherwise, Read returns the error.
	abort bool
	sent  bool
}

// verified returns a reader that verifies the content of a version.
func verified(f *os.File, v *version) *verifying {
	r := &verifying{Closer: f, file: f, left: v.Size}
	r.sum, r.want = v.sumOf()
	return r
}

// Read implements io.Reader. The error is an *inventory.DamagedError if the content has changed.
func (r *verifying) Read(p []byte) (int, error) {
	if r.left == 0 && r.sent {
		return 0, io.EOF
	}
	n, err := r.file.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if r.sum != nil {
		r.sum.Write(p[:n])
	}
	switch {
	case r.left == 0 && r.sum != nil && hex.EncodeToString(r.sum.Sum(nil)) != r.want:
		return r.fail("its bytes have changed since it was stored")
	case r.left > 0 && errors.Is(err, io.EOF):
		return r.fail("it has been cut")
	}
	r.sent = true
	if r.left == 0 && n == 0 {
		err = io.EOF
	}
	return n, err
}

func (r *verifying) fail(why string) (int, error) {
	if r.abort && r.sent {
		panic(http.ErrAbortHandler) // the response has begun, and must not look complete
	}
	return 0, &inventory.DamagedError{Path: r.file.Name(), Why: why}
}

// smallObject is the size up to which an object is verified before the response begins.
const smallObject = 1 << 20

// content returns the whole content of a version for a response.
func (s *store) verifiedContent(f *os.File, v *version) (io.ReadCloser, error) {
	r := verified(f, v)
	if v.Size > smallObject {
		r.abort = true
		return r, nil
	}
	whole := make([]byte, v.Size)
	_, err := io.ReadFull(r, whole)
	if err == nil && v.Size == 0 {
		_, err = r.Read(nil)
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	_ = f.Close()
	if err != nil {
		return nil, s.storageError(err)
	}
	return io.NopCloser(bytes.NewReader(whole)), nil
}

// missingObject returns an error if an object that is stored has no file.
func (s *store) missingObject(bucket, key string) error {
	record := s.recordPath(bucket, key)
	_, known, err := s.files.Entry(record)
	if err != nil || !known {
		return err
	}
	plain, _ := s.objectPaths(bucket, key)
	return &inventory.DamagedError{Path: plain, Why: "it is missing"}
}

// openFor returns the store and the buckets in a directory, for checks and repairs.
func openFor(dir string, files *inventory.Files) (*store, []string, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var buckets []string
	for _, e := range entries {
		if isBucketName(e.Name()) && e.IsDir() {
			buckets = append(buckets, e.Name())
		}
	}
	return &store{root: root, files: files, newFile: newBodyFile}, buckets, err
}

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
