package s3

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// copiedPart is the response of UploadPartCopy.
type copiedPart struct {
	XMLName      xml.Name `xml:"CopyPartResult"`
	Xmlns        string   `xml:"xmlns,attr"`
	LastModified string
	ETag         string
}

// uploadPartCopy implements UploadPartCopy: it reads a part of an upload from an object, or from a range of one.
func (s *store) uploadPartCopy(c *call) (any, error) {
	number, err := strconv.Atoi(c.query.Get("partNumber"))
	if err != nil || number < 1 || number > gofakes3.MaxUploadPartNumber {
		return nil, gofakes3.ErrorInvalidArgument("partNumber", c.query.Get("partNumber"),
			"Part number must be an integer between 1 and 10000, inclusive")
	}
	bucket, key, err := copySource(c.Header.Get("X-Amz-Copy-Source"))
	if err != nil {
		return nil, err
	}
	f, source, err := s.openVersion(bucket, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	meta := map[string]string{}
	for name := range c.Header {
		meta[name] = c.Header.Get(name)
	}
	if err := copyConditions(meta, source); err != nil {
		return nil, err
	}
	start, length, err := copyRange(c.Header.Get("X-Amz-Copy-Source-Range"), source.Size)
	if err != nil {
		return nil, err
	}
	id := gofakes3.UploadID(c.query.Get("uploadId"))
	var part io.Reader = io.NewSectionReader(f, start, length)
	if length == source.Size {
		part = verified(f, &source)
	}
	etag, err := s.UploadPart(c.bucket, c.key, id, number, length, part)
	if err != nil {
		return nil, err
	}
	return copiedPart{Xmlns: namespace, ETag: etag,
		LastModified: s.stamps.now().UTC().Format("2006-01-02T15:04:05.000Z")}, nil
}

// copySource parses x-amz-copy-source: a URL-encoded BUCKET/KEY, with an optional leading slash.
func copySource(header string) (bucket, key string, err error) {
	path, _, _ := strings.Cut(header, "?versionId=")
	if path, err = url.QueryUnescape(path); err == nil {
		bucket, key, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	}
	if err != nil || bucket == "" || key == "" {
		return "", "", gofakes3.ErrorInvalidArgument("x-amz-copy-source", header,
			"Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	}
	return bucket, key, nil
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
		return 0, 0, gofakes3.ErrorInvalidArgument("x-amz-copy-source-range", header,
			"The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy")
	}
	if to >= size {
		return 0, 0, gofakes3.ErrorInvalidArgument("x-amz-copy-source-range", header,
			"Range specified is not valid for source object of size: "+strconv.FormatInt(size, 10))
	}
	return from, to - from + 1, nil
}

// isPartCopy reports whether the call is an UploadPartCopy.
func (c *call) isPartCopy() bool {
	return c.Method == http.MethodPut && c.query.Has("uploadId") && c.Header.Get("X-Amz-Copy-Source") != ""
}
