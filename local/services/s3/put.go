package s3

import (
	"io"
	"slices"
	"strings"

	"github.com/johannesboyne/gofakes3"

	"stepback/internal/objectevent"
)

// PutObject stores a streamed body.
func (s *store) PutObject(bucket, key string, meta map[string]string, input io.Reader, size int64,
	conditions *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	headers, err := storedHeaders(meta)
	if err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	tags, err := uploadedTags(meta[tagsHeader])
	if err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	if err := s.requireBucket(bucket); err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	b, err := s.receive(input, size)
	if err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	defer b.discard()
	b.checksum, b.tags = s.checksumOf(meta), tags
	v, n, err := s.place(bucket, key, b, headers, objectevent.PutObject, putConditions(conditions))
	if err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	s.settle(n, s.announce(bucket, key, v, objectevent.PutObject))
	return gofakes3.PutObjectResult{VersionID: gofakes3.VersionID(v.ID)}, nil
}

// putConditions checks If-Match and If-None-Match: * against the current version.
func putConditions(c *gofakes3.PutConditions) func(*version) error {
	if c == nil {
		return nil
	}
	return func(current *version) error {
		if c.IfNoneMatch != nil && *c.IfNoneMatch == "*" && current != nil {
			return gofakes3.ErrorMessage(gofakes3.ErrPreconditionFailed,
				"At least one of the pre-conditions you specified did not hold: the object exists")
		}
		if c.IfMatch == nil {
			return nil
		}
		if current == nil {
			return keyNotFound()
		}
		if !matchesETag(*c.IfMatch, current.ETag) {
			return gofakes3.ErrorMessage(gofakes3.ErrPreconditionFailed,
				"At least one of the pre-conditions you specified did not hold: the ETag is "+current.ETag)
		}
		return nil
	}
}

// matchesETag reports whether a list of ETags, or *, includes etag, which is given without quotes.
func matchesETag(list, etag string) bool {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.Trim(strings.TrimPrefix(strings.TrimSpace(item), "W/"), `"`)
		if item == "*" || item == etag {
			return true
		}
	}
	return false
}

// maxUserMetadata is S3's limit of 2 KB for x-amz-meta- names and values.
const maxUserMetadata = 2048

// storedHeaders returns the headers that an object keeps.
func storedHeaders(meta map[string]string) (map[string]string, error) {
	kept, size := map[string]string{}, 0
	for name, value := range meta {
		name = strings.TrimPrefix(name, keptPrefix)
		switch {
		case strings.HasPrefix(name, "X-Amz-Meta-"):
			size += len(name) - len("X-Amz-Meta-") + len(value)
			kept[name] = value
		case name == "Content-Type", name == "Content-Disposition", name == "Content-Encoding",
			slices.Contains(keptHeaders, name), slices.Contains(encryptionHeaders, name):
			if value != "" {
				kept[name] = value
			}
		}
	}
	if size > maxUserMetadata {
		return nil, gofakes3.ErrorMessage(gofakes3.ErrMetadataTooLarge,
			"Your metadata headers exceed the maximum allowed metadata size")
	}
	return kept, nil
}
