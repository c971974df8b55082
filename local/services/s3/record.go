package s3

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stepback/internal/ownerfs"
)

// version describes one content of an object. Size and Modified identify the content (modification times are unique).
// ETag is without quotes. Headers are the response headers that the object was stored with.
type version struct {
	ID       string            `json:"id,omitempty"` // empty for the null version
	Size     int64             `json:"size"`
	Modified time.Time         `json:"modified"`
	ETag     string            `json:"etag"`
	Headers  map[string]string `json:"headers,omitempty"`
	Checksum *checksum         `json:"checksum,omitempty"`
	Tags     []tag             `json:"tags,omitempty"`
}

// record is an object's side file. While an object is being replaced, the record describes both contents, the new
// one first. After a crash, one of the two is in place, and its description is available. So content and
// description need no common transaction.
type record struct {
	Key      string    `json:"key"`
	Versions []version `json:"versions"`
}

func (r record) find(info fs.FileInfo) (version, bool) {
	for _, v := range r.Versions {
		if v.Size == info.Size() && v.Modified.Equal(info.ModTime()) {
			return v, true
		}
	}
	return version{}, false
}

func (s *store) readRecord(bucket, key string) (record, error) {
	text, err := os.ReadFile(s.recordPath(bucket, key))
	if isMissing(err) {
		return record{}, nil
	}
	if err != nil {
		return record{}, err
	}
	var r record
	if json.Unmarshal(text, &r) != nil || r.Key != key {
		return record{}, nil //nolint:nilerr // damaged by hand: described anew from the content
	}
	return r, nil
}

func (s *store) writeRecord(bucket string, r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := s.newFile(s.tempDir())
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if s.sync && err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return s.moveInto(f.Name(), s.recordPath(bucket, r.Key))
}

// lookup returns the version of the record whose content info identifies. known is false for a file that was placed
// or changed by hand.
func (s *store) lookup(bucket, key string, info fs.FileInfo) (v version, known bool, err error) {
	r, err := s.readRecord(bucket, key)
	if err != nil {
		return version{}, false, err
	}
	v, known = r.find(info)
	return v, known, nil
}

// describe returns the version that the open file f holds. A file without a record is hashed and gets a record.
func (s *store) describe(bucket, key string, f *os.File, info fs.FileInfo) (version, error) {
	v, known, err := s.lookup(bucket, key, info)
	if known || err != nil {
		return v, err
	}
	v = version{Size: info.Size(), Modified: info.ModTime().UTC()}
	if v.ETag, err = hashFrom(f); err != nil {
		return version{}, err
	}
	return v, s.adopt(bucket, key, v)
}

// adopt stores a record for the version v, unless the object has changed in the meantime.
func (s *store) adopt(bucket, key string, v version) error {
	s.commit.Lock()
	defer s.commit.Unlock()
	f, info, err := s.openObject(bucket, key)
	if err != nil {
		return nil // deleted in the meantime: nothing to describe
	}
	_ = f.Close()
	if info.Size() != v.Size || !info.ModTime().Equal(v.Modified) {
		return nil
	}
	return s.writeRecord(bucket, record{Key: key, Versions: []version{v}})
}

// hashFrom returns the MD5 of f in hexadecimal and rewinds f.
func hashFrom(f *os.File) (string, error) {
	h := md5.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// moveInto renames the file from to the path to, and creates to's directory if needed.
func (s *store) moveInto(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), ownerfs.Dir); err != nil {
		return err
	}
	return s.move(from, to)
}
