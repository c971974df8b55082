package s3

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stepback/internal/ownerfs"
	"stepback/internal/sealedjson"
	"stepback/local/services/inventory"
)

// version describes one content of an object. Size and Modified identify the content (modification times are unique).
// ETag is without quotes. Headers are the response headers that the object was stored with.
type version struct {
	ID       string    `json:"id,omitempty"` // empty for the null version
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	ETag     string    `json:"etag"`
	// CRC is the CRC-32C of the content, in hexadecimal; empty for a content of an earlier version or one placed by
	// hand.
	CRC string `json:"crc32c,omitempty"`
	// Outside is the ETag of the content that was replaced without S3; empty if it was not.
	Outside  string            `json:"outside,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Checksum *checksum         `json:"checksum,omitempty"`
	Tags     []tag             `json:"tags,omitempty"`
	// StorageClass is empty for STANDARD.
	StorageClass string       `json:"storageClass,omitempty"`
	CustomerKey  *customerKey `json:"customerKey,omitempty"`
	Retention    *retention   `json:"retention,omitempty"`
	LegalHold    bool         `json:"legalHold,omitempty"`
	ACL          *acl         `json:"acl,omitempty"`      // nil for the owner's
	Restored     *time.Time   `json:"restored,omitempty"` // the time until which an archived content can be read
	Parts        []storedPart `json:"parts,omitempty"`
	Upload       string       `json:"upload,omitempty"` // ID of the multipart upload
}

// storedPart is a part of an object that was uploaded in parts.
type storedPart struct {
	Number   int    `json:"number"`
	Size     int64  `json:"size"`
	Checksum string `json:"checksum,omitempty"` // Base64, in the object's algorithm
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

// readRecord reads the description of an object; it is empty if there is none. The error is an *inventory.DamagedError
// if it is damaged or missing.
func (s *store) readRecord(bucket, key string) (record, error) {
	path := s.recordPath(bucket, key)
	text, err := s.files.ReadFile(path)
	if isMissing(err) {
		return record{}, nil
	}
	if err != nil {
		return record{}, err
	}
	r, err := parseRecord(text)
	if err == nil && r.Key != key {
		err = fmt.Errorf("it describes the object %q", r.Key)
	}
	if err != nil {
		return record{}, &inventory.DamagedError{Path: path, Why: err.Error()}
	}
	return r, nil
}

func parseRecord(text []byte) (r record, err error) { return r, json.Unmarshal(text, &r) }

// writeRecord writes the description of an object that exists.
func (s *store) writeRecord(bucket string, r record) error {
	note, err := s.prepareRecord(bucket, r)
	if err == nil {
		note()
	}
	return err
}

// prepareRecord writes the description of an object that is about to be put into place. Call note afterwards.
func (s *store) prepareRecord(bucket string, r record) (note func(), err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return s.replaceSealed(s.recordPath(bucket, r.Key), text)
}

// prepareFirstRecord is prepareRecord for an object that does not exist. Nothing reads its description before the
// object is in place, so the file is written where it belongs. If a killed process left one there, it is replaced.
func (s *store) prepareFirstRecord(bucket string, r record) (note func(), err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return s.writeSealed(s.recordPath(bucket, r.Key), text, s.createFile)
}

// replaceSealed atomically writes a JSON object with a seal. Call note once the inventory may count on it.
func (s *store) replaceSealed(path string, text []byte) (note func(), err error) {
	return s.writeSealed(path, text, s.replaceFile)
}

// writeSealed is replaceSealed with a function that writes the file.
func (s *store) writeSealed(path string, text []byte, write func(string, []byte) error) (note func(), err error) {
	generation, err := s.files.Next(path)
	if err != nil {
		return nil, err
	}
	note = func() { s.files.Note(path, inventory.Entry{Generation: generation}) }
	return note, write(path, sealedjson.Seal(text, generation))
}

// lookup returns the version of the record whose content info identifies. known is false for a file that was placed
// or changed by hand. The error is an *inventory.DamagedError if the file has been cut or extended since it was stored.
func (s *store) lookup(bucket, key string, info fs.FileInfo) (v version, known bool, err error) {
	r, err := s.readRecord(bucket, key)
	if err != nil {
		return version{}, false, err
	}
	if v, known = r.find(info); known {
		return v, true, nil
	}
	for _, v := range r.Versions {
		if v.Modified.Equal(info.ModTime()) {
			plain, _ := s.objectPaths(bucket, key)
			return version{}, false, &inventory.DamagedError{Path: plain, Why: fmt.Sprintf("it has %d bytes, and had %d", info.Size(), v.Size)}
		}
	}
	return version{}, false, nil
}

// describe returns the version that the open file f holds. A file that no version describes is hashed. It is either a
// version restored from a backup, or one that was placed or changed by hand, and gets a record.
func (s *store) describe(bucket, key string, f *os.File, info fs.FileInfo) (version, error) {
	path := s.recordPath(bucket, key)
	v, file, known := s.seen.find(path, info)
	if known {
		return v, nil
	}
	v, known, err := s.lookup(bucket, key, info)
	if known && file != nil {
		s.seen.keep(path, file, &v)
	}
	if known || err != nil {
		return v, err
	}
	r, err := s.readRecord(bucket, key)
	if err != nil {
		return version{}, err
	}
	v, same, err := r.sameContent(f, info)
	if err == nil && !same {
		v = version{Size: info.Size(), Modified: info.ModTime().UTC()}
		v.ETag, err = hashFrom(f)
		if len(r.Versions) > 0 {
			v.Outside = cmp.Or(r.Versions[0].Outside, r.Versions[0].ETag)
		}
	}
	if err != nil {
		return version{}, err
	}
	return v, s.adopt(bucket, key, v)
}

// adopt stores a record for the version v, unless the object has changed in the meantime.
func (s *store) adopt(bucket, key string, v version) error {
	defer s.turn(bucket, key)()
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
	err := s.move(from, to)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), ownerfs.Dir); err != nil {
		return err
	}
	return s.move(from, to)
}
