package s3

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/internal/ownerfs"
)

// mostParts is the largest part number.
const mostParts = 10000

// upload is a multipart upload in progress. It is stored as a directory with upload.json and one file per part,
// named NUMBER-MD5 or NUMBER-MD5-CHECKSUM, in hexadecimal. This way a part and its sums appear in one rename, and
// uploads survive a restart.
type upload struct {
	ID        string            `json:"-"`
	Bucket    string            `json:"bucket"`
	Key       string            `json:"key"`
	Headers   map[string]string `json:"headers,omitempty"`
	Initiated time.Time         `json:"initiated"`
	// Algorithm and ChecksumType determine the checksum of the object; both may be empty.
	Algorithm    string       `json:"checksumAlgorithm,omitempty"`
	Tags         []tag        `json:"tags,omitempty"`
	ChecksumType string       `json:"checksumType,omitempty"`
	StorageClass string       `json:"storageClass,omitempty"`
	CustomerKey  *customerKey `json:"customerKey,omitempty"`
	Retention    *retention   `json:"retention,omitempty"`
	LegalHold    bool         `json:"legalHold,omitempty"`
	ACL          *acl         `json:"acl,omitempty"`
	// Initiator is the account that started the upload; empty stands for the bucket's owner.
	Initiator string `json:"initiator,omitempty"`
}

// people returns the initiator of an upload and the owner of the object that it makes.
func (s *store) people(u *upload, bucketOwner string) (initiator, owner person) {
	account := bucketOwner
	if u.ACL != nil {
		account = u.ACL.Owner
	}
	return person{ID: s.canonicalID(cmp.Or(u.Initiator, bucketOwner))}, person{ID: s.canonicalID(account)}
}

// initiated reports whether an account other than the bucket's owner started the upload of a call. It may then abort
// the upload and list its parts (Amazon S3 User Guide, "Multipart upload API and permissions").
func (s *store) initiated(c *call) bool {
	if c.operation != "AbortMultipartUpload" && c.operation != "ListParts" || c.caller.anonymous {
		return false
	}
	u, err := s.upload(c.bucket, c.key, c.query.Get("uploadId"))
	return err == nil && u.Initiator != "" && u.Initiator == c.caller.account
}

// description returns what the upload was started with.
func (u *upload) description() description {
	return description{headers: u.Headers, tags: u.Tags, storageClass: u.StorageClass, customerKey: u.CustomerKey,
		retention: u.Retention, legalHold: u.LegalHold, acl: u.ACL}
}

const uploadFile = "upload.json"

// startedUpload is the response of CreateMultipartUpload.
type startedUpload struct {
	XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
	Xmlns    string   `xml:"xmlns,attr"`
	Bucket   string
	Key      string
	UploadID string `xml:"UploadId"`
}

// createMultipartUpload implements CreateMultipartUpload.
func (s *store) createMultipartUpload(c *call) (any, error) {
	if _, err := c.message(maxMessage); err != nil { // it has none
		return nil, err
	}
	d, err := s.describes(c)
	if err != nil {
		return nil, err
	}
	u := upload{Bucket: c.bucket, Key: c.key, Headers: d.headers, Tags: d.tags, StorageClass: d.storageClass,
		CustomerKey: d.customerKey, Retention: d.retention, LegalHold: d.legalHold, ACL: d.acl}
	if u.Algorithm, u.ChecksumType, err = uploadChecksum(c); err != nil {
		return nil, err
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	if !s.owns(c.caller, owner) {
		u.Initiator = c.caller.account
	}
	if u.Algorithm != "" {
		c.header.Set(checksumPrefix+"Algorithm", u.Algorithm)
		c.header.Set(checksumPrefix+"Type", u.checksumType())
	}
	if err := s.startUpload(&u); err != nil {
		return nil, err
	}
	s.showEncryption(c.header, &version{Headers: u.Headers, CustomerKey: u.CustomerKey})
	return startedUpload{Xmlns: namespace, Bucket: c.bucket, Key: c.key, UploadID: u.ID}, nil
}

// uploadChecksum returns the checksum algorithm and type that an upload requests.
func uploadChecksum(c *call) (algorithm, kind string, err error) {
	algorithm, kind = strings.ToUpper(
		c.Header.Get(checksumPrefix+"Algorithm"),
	), strings.ToUpper(
		c.Header.Get(checksumPrefix+"Type"),
	)
	switch {
	case algorithm == "" && kind != "":
		err = fail(
			"InvalidRequest",
			"The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.",
			nil,
		)
	case algorithm == "":
	case checksums[algorithm] == nil:
		err = fail(
			"InvalidRequest",
			"Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]",
			nil,
		)
	case kind != "" && kind != fullObject && kind != composite:
		err = fail("InvalidRequest", "Value for x-amz-checksum-type header is invalid.", nil)
	case kind == fullObject && strings.HasPrefix(algorithm, "SHA"), kind == composite && algorithm == defaultAlgorithm:
		err = fail(
			"InvalidRequest",
			"The "+kind+" checksum type cannot be used with the "+strings.ToLower(algorithm)+" checksum algorithm.",
			nil,
		)
	}
	return algorithm, kind, err
}

// startUpload stores a new upload and sets its ID.
func (s *store) startUpload(u *upload) error {
	id := make([]byte, 16)
	rand.Read(id)
	u.ID, u.Initiated = hex.EncodeToString(id), s.stamps.next()
	text, err := json.Marshal(u)
	if err != nil {
		return s.storageError(err)
	}
	if err := os.Mkdir(s.uploadDir(u.ID), ownerfs.Dir); err != nil {
		return s.storageError(err)
	}
	note, err := s.replaceSealed(filepath.Join(s.uploadDir(u.ID), uploadFile), text)
	if err != nil {
		_ = os.RemoveAll(s.uploadDir(u.ID))
		return s.storageError(err)
	}
	note()
	return nil
}

// abortMultipartUpload implements AbortMultipartUpload.
func (s *store) abortMultipartUpload(c *call) (any, error) {
	return nil, s.AbortMultipartUpload(c.bucket, c.key, c.query.Get("uploadId"))
}

// AbortMultipartUpload deletes an upload and its parts.
func (s *store) AbortMultipartUpload(bucket, key string, id string) error {
	if _, err := s.upload(bucket, key, id); err != nil {
		return err
	}
	return s.storageError(s.files.RemoveAll(s.uploadDir(id)))
}

func (s *store) uploadDir(id string) string { return filepath.Join(s.uploadsDir(), id) }

// upload reads the upload with an ID and checks that it belongs to this bucket and key. A malformed ID never
// reaches the file system.
func (s *store) upload(bucket, key string, id string) (upload, error) {
	u, err := s.readUpload(id)
	if err != nil {
		return upload{}, err
	}
	if u.Bucket != bucket || u.Key != key {
		return upload{}, noSuchUpload(id)
	}
	return u, nil
}

func (s *store) readUpload(id string) (upload, error) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 16 {
		return upload{}, noSuchUpload(id)
	}
	text, err := s.files.ReadFile(filepath.Join(s.uploadDir(id), uploadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return upload{}, noSuchUpload(id)
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
func (s *store) parts(id string) ([]part, error) {
	entries, err := os.ReadDir(s.uploadDir(id))
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, e := range entries {
		digits, etag, ok := strings.Cut(e.Name(), "-")
		etag, sum, _ := strings.Cut(etag, "-")
		number, err := strconv.Atoi(digits)
		if !ok || err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // replaced in the meantime
		}
		parts = append(parts, part{number: number, etag: etag, sum: base64Sum(sum), path: filepath.Join(s.uploadDir(id),
			e.Name()),
			size: info.Size(), modified: info.ModTime().UTC()})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.number - b.number })
	return parts, nil
}

func (s *store) uploads(bucket, prefix string) ([]upload, error) {
	entries, err := os.ReadDir(s.uploadsDir())
	if err != nil {
		return nil, err
	}
	var uploads []upload
	for _, e := range entries {
		u, err := s.readUpload(e.Name())
		if isCode(err, "NoSuchUpload") {
			continue
		}
		if err != nil {
			return nil, err
		}
		if u.Bucket == bucket && strings.HasPrefix(u.Key, prefix) {
			uploads = append(uploads, u)
		}
	}
	slices.SortFunc(uploads, func(a, b upload) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), a.Initiated.Compare(b.Initiated))
	})
	return uploads, nil
}
