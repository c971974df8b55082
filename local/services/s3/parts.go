package s3

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// part is an uploaded part; etag is without quotes, sum is the checksum in Base64, if the part has one.
type part struct {
	number   int
	etag     string
	sum      string
	path     string
	size     int64
	modified time.Time
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
	if err = s.permitCustomerKey(c); err != nil {
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
	if err := u.permitChecksum(b.requested); err != nil {
		return nil, err
	}
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
	key, err := customerKeyOf(c.Header, &customerHeaders)
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

// permitChecksum returns an error if the parts of an upload need another checksum than the one a request names. Those
// of a composite checksum need its algorithm, as measured at AWS.
func (u *upload) permitChecksum(requested string) error {
	if u.Algorithm == "" || u.checksumType() != composite || requested == u.Algorithm {
		return nil
	}
	return checksumMismatch(u.Algorithm, requested)
}

// storePart makes a received body a part of an upload. It replaces an earlier part with the same number.
func (s *store) storePart(u upload, number int, b *body) (at time.Time, err error) {
	name := fmt.Sprintf("%05d-%s", number, b.etag)
	if sum, err := hexSum(b.checksum); err == nil && u.Algorithm != "" {
		name += "-" + sum
	}
	defer s.turns.take(".uploads/" + u.ID)()
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
	b.placed = true
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
