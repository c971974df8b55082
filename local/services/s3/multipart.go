package s3

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
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
}

// description returns what the upload was started with.
func (u *upload) description() description {
	return description{headers: u.Headers, tags: u.Tags, storageClass: u.StorageClass, customerKey: u.CustomerKey,
		retention: u.Retention, legalHold: u.LegalHold, acl: u.ACL}
}

// part is an uploaded part; etag is without quotes, sum is the checksum in Base64, if the part has one.
type part struct {
	number   int
	etag     string
	sum      string
	path     string
	size     int64
	modified time.Time
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

// partNumber returns the number of the part that a call uploads.
func (c *call) partNumber() (int, error) {
	n, err := strconv.Atoi(c.query.Get("partNumber"))
	if err != nil || n < 1 || n > mostParts {
		return 0, invalidArgument(
			"partNumber",
			c.query.Get("partNumber"),
			"Part number must be an integer between 1 and 10000, inclusive",
		)
	}
	return n, nil
}

// partOf returns the upload that a call adds a part to, and the part's number. It returns an error unless the call has
// the customer's key of the upload.
func (s *store) partOf(c *call) (u upload, number int, err error) {
	if number, err = c.partNumber(); err != nil {
		return u, 0, err
	}
	if u, err = s.upload(c.bucket, c.key, c.query.Get("uploadId")); err != nil {
		return u, 0, err
	}
	return u, number, u.requireKey(c)
}

// uploadPart implements UploadPart.
func (s *store) uploadPart(c *call) (any, error) {
	u, number, err := s.partOf(c)
	if err != nil {
		return nil, err
	}
	b, err := s.receiveBody(c)
	if err != nil {
		return nil, err
	}
	defer b.discard()
	if u.Algorithm != "" && b.checksum.Algorithm != u.Algorithm {
		if b.checksum, err = sumFile(b.path, u.Algorithm); err != nil {
			return nil, s.storageError(err)
		}
	}
	if _, err := s.storePart(u, number, &b); err != nil {
		return nil, err
	}
	c.header.Set("ETag", quoted(b.etag))
	c.header.Set(checksumPrefix+b.checksum.Algorithm, b.checksum.Value)
	s.showEncryption(c.header, &version{Headers: u.Headers, CustomerKey: u.CustomerKey})
	return nil, nil
}

// requireKey returns an error unless a part comes with the customer's key that its upload was started with.
func (u *upload) requireKey(c *call) error {
	key, err := customerKeyOf(c.Header, customerPrefix)
	switch {
	case err != nil:
		return err
	case u.CustomerKey == nil && key == nil:
		return nil
	case u.CustomerKey == nil || key == nil:
		return fail(
			"InvalidRequest",
			"The multipart upload initiate requested encryption. Subsequent part requests must include the appropriate encryption parameters.",
			nil,
		)
	case *key != *u.CustomerKey:
		return fail("InvalidRequest", "The provided encryption parameters did not match the ones used originally.", nil)
	}
	return nil
}

// storePart makes a received body a part of an upload. It replaces an earlier part with the same number.
func (s *store) storePart(u upload, number int, b *body) (at time.Time, err error) {
	name := fmt.Sprintf("%05d-%s", number, b.etag)
	if sum, err := hexSum(b.checksum); err == nil && u.Algorithm != "" {
		name += "-" + sum
	}
	s.commit.Lock()
	defer s.commit.Unlock()
	if at, err = s.stamp(b.path); err != nil {
		return at, s.storageError(err)
	}
	err = s.move(b.path, filepath.Join(s.uploadDir(u.ID), name))
	if isMissing(err) {
		return at, noSuchUpload(u.ID) // completed or aborted in the meantime
	}
	if err != nil {
		return at, s.storageError(err)
	}
	return at, s.storageError(s.dropParts(u.ID, number, name))
}

// dropParts removes the uploaded files of a part number, except the file named except.
func (s *store) dropParts(id string, number int, except string) error {
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

// copiedPart is the response of UploadPartCopy.
type copiedPart struct {
	XMLName      xml.Name `xml:"CopyPartResult"`
	Xmlns        string   `xml:"xmlns,attr"`
	LastModified string
	ETag         string
	*checksumElements
}

// uploadPartCopy implements UploadPartCopy: it reads a part of an upload from an object, or from a range of one.
func (s *store) uploadPartCopy(c *call) (any, error) {
	u, number, err := s.partOf(c)
	if err != nil {
		return nil, err
	}
	f, from, err := s.openSource(c)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start, length, err := copyRange(c.Header.Get("X-Amz-Copy-Source-Range"), from.Size)
	if err != nil {
		return nil, err
	}
	if length > mostObject {
		return nil, fail(
			"InvalidRequest",
			"The specified copy source is larger than the maximum allowable size for a copy source: 5368709120",
			nil,
		)
	}
	var content io.Reader = io.NewSectionReader(f, start, length)
	if length == from.Size {
		content = verified(f, &from.version)
	}
	b, err := s.receive(content, length, nil)
	if err != nil {
		return nil, err
	}
	defer b.discard()
	if u.Algorithm != "" {
		if b.checksum, err = sumFile(b.path, u.Algorithm); err != nil {
			return nil, s.storageError(err)
		}
	}
	at, err := s.storePart(u, number, &b)
	if err != nil {
		return nil, err
	}
	s.showEncryption(c.header, &version{Headers: u.Headers, CustomerKey: u.CustomerKey})
	out := copiedPart{Xmlns: namespace, ETag: quoted(b.etag), LastModified: shownTime(at)}
	if b.checksum != nil {
		out.checksumElements = &checksumElements{Value: sumElement(b.checksum.Algorithm, b.checksum.Value)}
	}
	return out, nil
}

// copyRange parses bytes=FIRST-LAST, which must lie within the object. An empty header means the whole object.
func copyRange(header string, size int64) (start, length int64, err error) {
	if header == "" {
		return 0, size, nil
	}
	first, last, ok := strings.Cut(strings.TrimPrefix(header, "bytes="), "-")
	from, errFrom := strconv.ParseInt(first, 10, 64)
	to, errTo := strconv.ParseInt(last, 10, 64)
	if !ok || errFrom != nil || errTo != nil || from < 0 || from > to || !strings.HasPrefix(header, "bytes=") {
		return 0, 0, invalidArgument(
			"x-amz-copy-source-range",
			header,
			"The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy",
		)
	}
	if to >= size {
		return 0, 0, invalidArgument("x-amz-copy-source-range", header,
			"Range specified is not valid for source object of size: "+strconv.FormatInt(size, 10))
	}
	return from, to - from + 1, nil
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

// partList is the response of ListParts.
type partList struct {
	XMLName              xml.Name `xml:"ListPartsResult"`
	Xmlns                string   `xml:"xmlns,attr"`
	Bucket               string
	Key                  string
	UploadID             string `xml:"UploadId"`
	PartNumberMarker     int64
	NextPartNumberMarker int
	MaxParts             int64
	IsTruncated          bool
	Part                 []partElement
	Initiator            person
	Owner                person
	StorageClass         string
	ChecksumAlgorithm    string `xml:",omitempty"`
	ChecksumType         string `xml:",omitempty"`
}

type partElement struct {
	PartNumber   int
	LastModified string
	ETag         string
	Size         int64
	Checksum     *namedElement
}

// listParts implements ListParts.
func (s *store) listParts(c *call) (any, error) {
	u, err := s.upload(c.bucket, c.key, c.query.Get("uploadId"))
	if err != nil {
		return nil, err
	}
	limit, err := c.number("max-parts", maxKeys)
	if err != nil {
		return nil, err
	}
	marker := int64(0)
	if c.query.Get("part-number-marker") != "" {
		if marker, err = c.number("part-number-marker", 1<<31-1); err != nil {
			return nil, err
		}
	}
	parts, err := s.parts(u.ID)
	if err != nil {
		return nil, s.storageError(err)
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	by := person{ID: s.canonicalID(owner)}
	out := partList{Xmlns: namespace, Bucket: c.bucket, Key: c.key, UploadID: u.ID, PartNumberMarker: marker,
		MaxParts:  limit,
		Initiator: by, Owner: by, StorageClass: cmp.Or(u.StorageClass, standard)}
	if u.Algorithm != "" {
		out.ChecksumAlgorithm, out.ChecksumType = u.Algorithm, u.checksumType()
	}
	for _, p := range parts {
		if int64(p.number) <= marker {
			continue
		}
		if int64(len(out.Part)) == limit {
			out.IsTruncated = true
			break
		}
		out.NextPartNumberMarker = p.number
		e := partElement{PartNumber: p.number, ETag: quoted(p.etag), Size: p.size, LastModified: shownTime(p.modified)}
		if p.sum != "" {
			sum := sumElement(u.Algorithm, p.sum)
			e.Checksum = &sum
		}
		out.Part = append(out.Part, e)
	}
	return out, nil
}

// uploadList is the response of ListMultipartUploads.
type uploadList struct {
	XMLName            xml.Name `xml:"ListMultipartUploadsResult"`
	Xmlns              string   `xml:"xmlns,attr"`
	Bucket             string
	KeyMarker          string
	UploadIDMarker     string `xml:"UploadIdMarker"`
	NextKeyMarker      string `xml:",omitempty"`
	NextUploadIDMarker string `xml:"NextUploadIdMarker,omitempty"`
	Prefix             string
	Delimiter          string `xml:",omitempty"`
	EncodingType       string `xml:",omitempty"`
	MaxUploads         int64
	IsTruncated        bool
	Upload             []uploadElement
	CommonPrefixes     []commonPrefixElement
}

type uploadElement struct {
	Key               string
	UploadID          string `xml:"UploadId"`
	Initiator         person
	Owner             person
	StorageClass      string
	Initiated         string
	ChecksumAlgorithm string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
}

// listMultipartUploads implements ListMultipartUploads. The uploads are ordered by key and then by start time.
func (s *store) listMultipartUploads(c *call) (any, error) {
	q := c.query
	limit, err := c.number("max-uploads", maxKeys)
	if err != nil {
		return nil, err
	}
	if err := checkEncoding(q.Get("encoding-type")); err != nil {
		return nil, err
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	uploads, err := s.uploads(c.bucket, q.Get("prefix"))
	if err != nil {
		return nil, s.storageError(err)
	}
	out := uploadList{
		Xmlns:        namespace,
		Bucket:       c.bucket,
		Prefix:       q.Get("prefix"),
		Delimiter:    q.Get("delimiter"),
		MaxUploads:   limit,
		KeyMarker:    q.Get("key-marker"),
		EncodingType: q.Get("encoding-type"),
	}
	if out.KeyMarker != "" {
		out.UploadIDMarker = q.Get("upload-id-marker")
		uploads = uploadsAfter(uploads, out.KeyMarker, out.UploadIDMarker)
	}
	shown := func(key string) string {
		if out.EncodingType == "url" {
			return encodeKey(key)
		}
		return key
	}
	seen, by := map[string]bool{}, person{ID: s.canonicalID(owner)}
	for _, u := range uploads {
		common, rolled := commonPrefix(u.Key, q.Get("prefix"), q.Get("delimiter"))
		if rolled && seen[common] {
			continue
		}
		if int64(len(out.Upload)+len(out.CommonPrefixes)) == limit {
			out.IsTruncated = true
			break
		}
		out.NextKeyMarker, out.NextUploadIDMarker = shown(u.Key), u.ID
		if rolled {
			seen[common] = true
			out.CommonPrefixes = append(out.CommonPrefixes, commonPrefixElement{shown(common)})
			continue
		}
		e := uploadElement{Key: shown(u.Key), UploadID: u.ID, StorageClass: cmp.Or(u.StorageClass, standard),
			Initiated: shownTime(u.Initiated), Initiator: by, Owner: by}
		if u.Algorithm != "" {
			e.ChecksumAlgorithm, e.ChecksumType = u.Algorithm, u.checksumType()
		}
		out.Upload = append(out.Upload, e)
	}
	out.Prefix, out.Delimiter, out.KeyMarker = shown(out.Prefix), shown(out.Delimiter), shown(out.KeyMarker)
	return out, nil
}

// uploadsAfter returns the uploads after those of earlier pages. Without an ID, those are all uploads of the key.
func uploadsAfter(uploads []upload, key, id string) []upload {
	for i, u := range uploads {
		if u.Key > key {
			return uploads[i:]
		}
		if u.Key == key && u.ID == id {
			return uploads[i+1:]
		}
	}
	return nil
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
