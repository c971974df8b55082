package s3

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/johannesboyne/gofakes3"
)

// tag is a tag of an object.
type tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// tagging is the XML of an object's tags.
type tagging struct {
	XMLName xml.Name `xml:"Tagging"`
	Xmlns   string   `xml:"xmlns,attr,omitempty"`
	TagSet  struct {
		Tag []tag
	}
}

// S3's limits for tags: the number per object, and the characters of keys and values.
const (
	maxTags     = 10
	maxTagKey   = 128
	maxTagValue = 256
	// maxTagging is the maximum size of the XML of tags, in bytes.
	maxTagging = 64 << 10
)

const (
	errInvalidTag = gofakes3.ErrorCode("InvalidTag")
	errBadRequest = gofakes3.ErrorCode("BadRequest")
)

const (
	// tagsHeader contains the tags of an upload, encoded as a query.
	tagsHeader     = "X-Amz-Tagging"
	tagCountHeader = "X-Amz-Tagging-Count"
)

// objectTagging implements GetObjectTagging, PutObjectTagging and DeleteObjectTagging.
func (s *store) objectTagging(c *call) (any, error) {
	switch c.Method {
	case http.MethodGet:
		f, v, err := s.openVersion(c.bucket, c.key)
		if err != nil {
			return nil, err
		}
		_ = f.Close()
		out := tagging{Xmlns: namespace}
		out.TagSet.Tag = v.Tags
		return out, nil
	case http.MethodPut:
		var in tagging
		if err := xml.NewDecoder(io.LimitReader(c.Body, maxTagging)).Decode(&in); err != nil {
			return nil, gofakes3.ErrorMessage(gofakes3.ErrMalformedXML, gofakes3.ErrMalformedXML.Message())
		}
		if err := checkTags(in.TagSet.Tag); err != nil {
			return nil, err
		}
		return nil, s.setTags(c.bucket, c.key, in.TagSet.Tag)
	case http.MethodDelete:
		return nil, s.setTags(c.bucket, c.key, nil)
	}
	return nil, gofakes3.ErrMethodNotAllowed
}

// setTags replaces the tags of an object.
func (s *store) setTags(bucket, key string, tags []tag) error {
	s.commit.Lock()
	defer s.commit.Unlock()
	v, err := s.current(bucket, key)
	if err != nil {
		return s.storageError(err)
	}
	if v == nil {
		return keyNotFound()
	}
	v.Tags = tags
	return s.storageError(s.writeRecord(bucket, record{Key: key, Versions: []version{*v}}))
}

// uploadedTags parses the tags in the header of an upload.
func uploadedTags(header string) ([]tag, error) {
	if header == "" {
		return nil, nil
	}
	var tags []tag
	for pair := range strings.SplitSeq(header, "&") {
		name, value, err := unescapePair(pair)
		if err != nil {
			return nil, gofakes3.ErrorInvalidArgument("x-amz-tagging", header,
				"The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.")
		}
		tags = append(tags, tag{name, value})
	}
	return tags, checkTags(tags)
}

func checkTags(tags []tag) error {
	if len(tags) > maxTags {
		return gofakes3.ErrorMessage(errBadRequest, "Object tags cannot be greater than 10")
	}
	return checkTagWords(tags)
}

func checkTagWords(tags []tag) error {
	seen := map[string]bool{}
	for _, t := range tags {
		switch {
		case t.Key == "" || utf8.RuneCountInString(t.Key) > maxTagKey:
			return gofakes3.ErrorMessage(errInvalidTag, "The TagKey you have provided is invalid")
		case utf8.RuneCountInString(t.Value) > maxTagValue:
			return gofakes3.ErrorMessage(errInvalidTag, "The TagValue you have provided is invalid")
		case seen[t.Key]:
			return gofakes3.ErrorMessage(errInvalidTag, "Cannot provide multiple Tags with the same key")
		}
		seen[t.Key] = true
	}
	return nil
}

func unescapePair(pair string) (name, value string, err error) {
	name, value, _ = strings.Cut(pair, "=")
	if name, err = url.QueryUnescape(name); err != nil {
		return "", "", err
	}
	value, err = url.QueryUnescape(value)
	return name, value, err
}
