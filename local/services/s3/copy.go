package s3

import (
	"encoding/xml"
	"maps"
	"net/url"
	"os"
	"strings"
	"time"

	"stepback/internal/objectevent"
)

// copyResult is the response of CopyObject.
type copyResult struct {
	XMLName      xml.Name `xml:"CopyObjectResult"`
	Xmlns        string   `xml:"xmlns,attr"`
	LastModified string
	ETag         string
	*checksumElements
}

// timeFormat is the format of times in S3's XML.
const timeFormat = "2006-01-02T15:04:05.000Z"

func shownTime(t time.Time) string { return t.UTC().Format(timeFormat) }

// copySource parses x-amz-copy-source: a URL-encoded BUCKET/KEY with an optional leading slash and version.
func copySource(header string) (bucket, key, id string, err error) {
	path, id, _ := strings.Cut(header, "?versionId=")
	if path, err = url.QueryUnescape(path); err == nil {
		bucket, key, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	}
	if err != nil || bucket == "" || key == "" {
		return "", "", "", invalidArgument("x-amz-copy-source", header,
			"Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	}
	return bucket, key, id, nil
}

// source is the version that a copy reads.
type source struct {
	bucket, key, id string
	version
}

// openSource opens the source of a copy, which the caller must be allowed to read.
func (s *store) openSource(c *call) (*os.File, source, error) {
	bucket, key, id, err := copySource(c.Header.Get("X-Amz-Copy-Source"))
	if err != nil {
		return nil, source{}, err
	}
	if err := s.requireBucket(bucket); err != nil {
		return nil, source{}, err
	}
	if err := s.authorize(c.reading(bucket, key, id)); err != nil {
		return nil, source{}, err
	}
	f, v, err := s.openNamed(bucket, key, id, id != "")
	if marker := (*markerError)(nil); errorAs(err, &marker) {
		if id != "" {
			return nil, source{}, fail(
				"InvalidRequest",
				"The source of a copy request may not specifically refer to a delete marker by version id.",
				nil,
			)
		}
		err = noSuchKey(key)
	}
	if err != nil {
		return nil, source{}, err
	}
	err = v.requireKey(c.Header, &sourceHeaders)
	if err == nil {
		err = conditionsOf(c.Header, "X-Amz-Copy-Source-").check(&v)
	}
	if err != nil {
		_ = f.Close()
		return nil, source{}, err
	}
	if v.ID != "" {
		c.header.Set("X-Amz-Copy-Source-Version-Id", shownID(v.ID))
	}
	return f, source{bucket, key, id, v}, nil
}

// copyObject implements CopyObject. It copies the source as it is when the copy starts.
func (s *store) copyObject(c *call) (any, error) {
	d, err := s.describes(c)
	if err != nil {
		return nil, err
	}
	conditions, err := putConditions(c)
	if err != nil {
		return nil, err
	}
	f, from, err := s.openSource(c)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if from.Size > mostObject {
		return nil, fail(
			"InvalidRequest",
			"The specified copy source is larger than the maximum allowable size for a copy source: 5368709120",
			nil,
		)
	}
	if err := c.copied(&d, &from); err != nil {
		return nil, err
	}
	b, err := s.receive(verified(f, &from.version), from.Size, nil)
	if err != nil {
		return nil, err
	}
	defer b.discard()
	b.description, b.checksum = d, from.Checksum
	if b.checksum, err = s.copiedChecksum(c, &b, from.Checksum); err != nil {
		return nil, err
	}
	v, n, err := s.place(c.bucket, c.key, &b, objectevent.CopyObject, conditions)
	if err != nil {
		return nil, err
	}
	s.settle(n, s.announce(c.bucket, c.key, v, objectevent.CopyObject))
	c.showVersion(&v)
	s.showEncryption(c.header, &v)
	s.showExpiration(c, &v)
	return copyResult{Xmlns: namespace, ETag: quoted(v.ETag), LastModified: shownTime(v.Modified),
		checksumElements: v.Checksum.elements()}, nil
}

// copiedChecksum returns the checksum of a copy: the source's, or one of the requested algorithm.
func (s *store) copiedChecksum(c *call, b *body, of *checksum) (*checksum, error) {
	name := strings.ToUpper(c.Header.Get(checksumPrefix + "Algorithm"))
	switch {
	case name != "" && checksums[name] == nil:
		return nil, invalidArgument(
			"x-amz-checksum-algorithm",
			name,
			"Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]",
		)
	case name == "" && of != nil && of.Type == fullObject, of != nil && of.Algorithm == name && of.Type == fullObject:
		return of, nil
	case name == "" && of != nil:
		name = of.Algorithm
	case name == "":
		name = defaultAlgorithm
	}
	return sumFile(b.path, name)
}

// copied adds to d, the description of a copy, the metadata and tags that the copy takes over from its source.
func (c *call) copied(d *description, from *source) error {
	for name, allowed := range map[string]string{"X-Amz-Metadata-Directive": "metadata", "X-Amz-Tagging-Directive": "tagging"} {
		if v := c.Header.Get(name); v != "" && v != "COPY" && v != "REPLACE" {
			return invalidArgument(strings.ToLower(name), v, "Unknown "+allowed+" directive.")
		}
	}
	replaced := c.Header.Get("X-Amz-Metadata-Directive") == "REPLACE"
	if from.bucket == c.bucket && from.key == c.key && from.id == "" && !replaced && !c.changesObject() {
		return fail("InvalidRequest", "This copy request is illegal because it is trying to copy an object to itself "+
			"without changing the object's metadata, storage class, website redirect location or encryption attributes.", nil)
	}
	if !replaced {
		own := d.headers
		d.headers = map[string]string{}
		maps.Copy(d.headers, from.Headers)
		delete(d.headers, redirectHeader) // it is not copied
		for _, name := range append(encryptionHeaders[:len(encryptionHeaders):len(encryptionHeaders)], redirectHeader) {
			delete(d.headers, name)
			if own[name] != "" { // a copy has its own encryption
				d.headers[name] = own[name]
			}
		}
	}
	if c.Header.Get("X-Amz-Tagging-Directive") != "REPLACE" {
		d.tags = from.Tags
	}
	return nil
}

// changesObject reports whether a copy of an object to itself would change anything about it.
func (c *call) changesObject() bool {
	for _, name := range []string{classHeader, redirectHeader, encryptionHeader, customerPrefix + "Algorithm", checksumPrefix + "Algorithm"} {
		if c.Header.Get(name) != "" {
			return true
		}
	}
	return c.Header.Get("X-Amz-Tagging-Directive") == "REPLACE"
}

// reading returns the call of the same caller that reads an object.
func (c *call) reading(bucket, key, id string) *call {
	r := c.Clone(c.Context())
	r.Method, r.URL = "GET", &url.URL{Path: "/" + bucket + "/" + key}
	r.Header.Del("X-Amz-Copy-Source")
	if id != "" {
		r.URL.RawQuery = url.Values{"versionId": {id}}.Encode()
	}
	return &call{Request: r, bucket: bucket, key: key, query: r.URL.Query(), caller: c.caller, operation: "GetObject"}
}
