package s3

import (
	"context"
	"encoding/xml"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"stepback/aws"
	"stepback/internal/lazyregexp"
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
	// tagsHeader contains the tags of an upload, encoded as a query.
	tagsHeader     = "X-Amz-Tagging"
	tagCountHeader = "X-Amz-Tagging-Count"
)

// getObjectTagging implements GetObjectTagging.
func (s *store) getObjectTagging(c *call) (any, error) {
	f, v, err := s.openCalled(c)
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	c.showVersion(&v)
	out := tagging{Xmlns: namespace}
	out.TagSet.Tag = v.Tags
	return out, nil
}

// putObjectTagging implements PutObjectTagging.
func (s *store) putObjectTagging(c *call) (any, error) {
	text, err := c.message(maxTagging)
	if err != nil {
		return nil, err
	}
	var in tagging
	if xml.Unmarshal(text, &in) != nil {
		return nil, malformedXML()
	}
	if err := checkTags(in.TagSet.Tag); err != nil {
		return nil, err
	}
	return nil, s.setTags(c, in.TagSet.Tag, "ObjectTagging:Put", "Object Tags Added")
}

// deleteObjectTagging implements DeleteObjectTagging.
func (s *store) deleteObjectTagging(c *call) (any, error) {
	return nil, s.setTags(c, nil, "ObjectTagging:Delete", "Object Tags Deleted")
}

// setTags replaces the tags of a version and announces it.
func (s *store) setTags(c *call, tags []tag, event, detailType string) error {
	v, err := s.changeVersion(c.bucket, c.key, c.query.Get("versionId"), func(v *version) error { v.Tags = tags; return nil })
	if err != nil {
		return err
	}
	c.showVersion(&v)
	s.announceChange(c, &v, event, detailType)
	return nil
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
			return nil, invalidArgument("x-amz-tagging", header,
				"The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.")
		}
		tags = append(tags, tag{name, value})
	}
	return tags, checkTags(tags)
}

func checkTags(tags []tag) error {
	if len(tags) > maxTags {
		return fail("BadRequest", "Object tags cannot be greater than 10", nil)
	}
	if t := systemTag(tags); t != nil {
		return fail("InvalidTag", "Your TagKey cannot be prefixed with aws:", members{"TagKey": t.Key})
	}
	return checkTagWords(tags)
}

// systemTagPrefix begins the keys of tags that only AWS services set.
const systemTagPrefix = "aws:"

// systemTag returns the first tag whose key has systemTagPrefix; nil for none.
func systemTag(tags []tag) *tag {
	i := slices.IndexFunc(tags, func(t tag) bool { return strings.HasPrefix(t.Key, systemTagPrefix) })
	if i < 0 {
		return nil
	}
	return &tags[i]
}

// checkBucketTagWords returns an error unless tags may be those of a bucket.
func checkBucketTagWords(ctx context.Context, tags []tag) error {
	if t := systemTag(tags); t != nil && !aws.MaySetSystemTags(ctx) {
		return fail("InvalidTag", "System tags cannot be added/updated by requester", members{"TagKey": t.Key})
	}
	return checkTagWords(tags)
}

// tagText matches the keys and values of tags.
var tagText = lazyregexp.New(`^[\pL\pZ\pN_.:/=+\-@]*$`)

func checkTagWords(tags []tag) error {
	seen := map[string]bool{}
	for _, t := range tags {
		switch {
		case t.Key == "" || utf8.RuneCountInString(t.Key) > maxTagKey || !tagText.MatchString(t.Key):
			return fail("InvalidTag", "The TagKey you have provided is invalid", members{"TagKey": t.Key})
		case utf8.RuneCountInString(t.Value) > maxTagValue || !tagText.MatchString(t.Value):
			return fail("InvalidTag", "The TagValue you have provided is invalid", members{"TagKey": t.Key, "TagValue": t.Value})
		case seen[t.Key]:
			return fail("InvalidTag", "Cannot provide multiple Tags with the same key", members{"TagKey": t.Key})
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
