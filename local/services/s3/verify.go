package s3

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

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
	return &store{root: root, files: files, newFile: newBodyFile, newRecord: newRecordFile}, buckets, err
}
