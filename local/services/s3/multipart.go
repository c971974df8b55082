package s3

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"

	"stepback/internal/ownerfs"
)

// upload is a multipart upload in progress. It is stored as a directory with upload.json and one file per part,
// named NUMBER-MD5. This way a part and its ETag appear in one rename, and uploads survive a restart.
type upload struct {
	ID        gofakes3.UploadID `json:"-"`
	Bucket    string            `json:"bucket"`
	Key       string            `json:"key"`
	Headers   map[string]string `json:"headers,omitempty"`
	Initiated time.Time         `json:"initiated"`
	// Algorithm and ChecksumType determine the checksum of the object; both may be empty.
	Algorithm    string `json:"checksumAlgorithm,omitempty"`
	Tags         []tag  `json:"tags,omitempty"`
	ChecksumType string `json:"checksumType,omitempty"`
}

// part is an uploaded part; etag is without quotes.
type part struct {
	number   int
	etag     string
	path     string
	size     int64
	modified time.Time
}

const uploadFile = "upload.json"

// CreateMultipartUpload starts an upload.
func (s *store) CreateMultipartUpload(bucket, key string, meta map[string]string) (gofakes3.UploadID, error) {
	if len(key) > gofakes3.KeySizeLimit {
		return "", gofakes3.ResourceError(gofakes3.ErrKeyTooLong, key)
	}
	headers, err := storedHeaders(meta)
	if err != nil {
		return "", err
	}
	tags, err := uploadedTags(meta[tagsHeader])
	if err != nil {
		return "", err
	}
	id := make([]byte, 16)
	rand.Read(id)
	u := upload{
		ID: gofakes3.UploadID(hex.EncodeToString(id)), Bucket: bucket, Key: key, Headers: headers, Tags: tags,
		Initiated: s.stamps.next(),
		Algorithm: strings.ToUpper(meta[checksumPrefix+"Algorithm"]), ChecksumType: meta[checksumPrefix+"Type"],
	}
	text, err := json.Marshal(u)
	if err != nil {
		return "", s.storageError(err)
	}
	if err := os.Mkdir(s.uploadDir(u.ID), ownerfs.Dir); err != nil {
		return "", s.storageError(err)
	}
	note, err := s.replaceSealed(filepath.Join(s.uploadDir(u.ID), uploadFile), text)
	if err == nil {
		note()
	} else {
		_ = os.RemoveAll(s.uploadDir(u.ID))
		return "", s.storageError(err)
	}
	return u.ID, nil
}

// UploadPart streams one part to disk. It replaces an earlier part with the same number.
func (s *store) UploadPart(bucket, key string, id gofakes3.UploadID, number int, size int64, input io.Reader) (string,
	error) {
	if _, err := s.upload(bucket, key, id); err != nil {
		return "", err
	}
	b, err := s.receive(input, size)
	if err != nil {
		return "", err
	}
	defer b.discard()
	name := fmt.Sprintf("%05d-%s", number, b.etag)
	s.commit.Lock()
	defer s.commit.Unlock()
	if _, err := s.stamp(b.path); err != nil {
		return "", s.storageError(err)
	}
	err = s.move(b.path, filepath.Join(s.uploadDir(id), name))
	if isMissing(err) {
		return "", gofakes3.ErrNoSuchUpload // completed or aborted in the meantime
	}
	if err != nil {
		return "", s.storageError(err)
	}
	return quoted(b.etag), s.storageError(s.dropParts(id, number, name))
}

// dropParts removes the uploaded files of a part number, except the file named except.
func (s *store) dropParts(id gofakes3.UploadID, number int, except string) error {
	parts, err := s.parts(id)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.number == number && filepath.Base(p.path) != except {
			if err := os.Remove(p.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// AbortMultipartUpload deletes an upload and its parts.
func (s *store) AbortMultipartUpload(bucket, key string, id gofakes3.UploadID) error {
	if _, err := s.upload(bucket, key, id); err != nil {
		return err
	}
	return s.storageError(s.files.RemoveAll(s.uploadDir(id)))
}

func (s *store) uploadDir(id gofakes3.UploadID) string {
	return filepath.Join(s.uploadsDir(), string(id))
}

// upload reads the upload with an ID and checks that it belongs to this bucket and key. A malformed ID never
// reaches the file system.
func (s *store) upload(bucket, key string, id gofakes3.UploadID) (upload, error) {
	u, err := s.readUpload(id)
	if err != nil {
		return upload{}, err
	}
	if u.Bucket != bucket || u.Key != key {
		return upload{}, gofakes3.ErrNoSuchUpload
	}
	return u, nil
}

func (s *store) readUpload(id gofakes3.UploadID) (upload, error) {
	if raw, err := hex.DecodeString(string(id)); err != nil || len(raw) != 16 {
		return upload{}, gofakes3.ErrNoSuchUpload
	}
	text, err := s.files.ReadFile(filepath.Join(s.uploadDir(id), uploadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return upload{}, gofakes3.ErrNoSuchUpload
	}
	if err != nil {
		return upload{}, s.storageError(err)
	}
	u := upload{ID: id}
	if err := json.Unmarshal(text, &u); err != nil {
		return upload{}, s.storageError(fmt.Errorf("upload %s: %w", id, err))
	}
	return u, nil
}

// parts returns the parts of an upload, ordered by number.
func (s *store) parts(id gofakes3.UploadID) ([]part, error) {
	entries, err := os.ReadDir(s.uploadDir(id))
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, e := range entries {
		digits, etag, ok := strings.Cut(e.Name(), "-")
		number, err := strconv.Atoi(digits)
		if !ok || err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // replaced in the meantime
		}
		path := filepath.Join(s.uploadDir(id), e.Name())
		parts = append(parts, part{number: number, etag: etag, path: path, size: info.Size(),
			modified: info.ModTime().UTC()})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.number - b.number })
	return parts, nil
}
