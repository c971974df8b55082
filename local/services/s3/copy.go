package s3

import (
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"

	"stepback/internal/objectevent"
)

// ownHeader lists the headers that a copy request with x-amz-metadata-directive: REPLACE contains itself, separated
// by commas. It is needed because gofakes3 merges the source's headers into them.
const ownHeader = "X-Amz-Stepback-Own"

// CopyObject copies an object. It copies the source as it is when the copy starts.
func (s *store) CopyObject(srcBucket, srcKey, dstBucket, dstKey string,
	meta map[string]string) (gofakes3.CopyObjectResult, error) {
	none := gofakes3.CopyObjectResult{}
	f, source, err := s.openVersion(srcBucket, srcKey)
	if err != nil {
		return none, err
	}
	defer f.Close()
	if err := copyConditions(meta, source); err != nil {
		return none, err
	}
	if srcBucket == dstBucket && srcKey == dstKey && !changesObject(meta) {
		return none, gofakes3.ErrorMessage(errInvalidRequest,
			"This copy request is illegal because it is trying to copy an object to itself "+
				"without changing the object's metadata, storage class, website redirect location or encryption attributes.")
	}
	headers, err := copiedHeaders(meta, source)
	if err != nil {
		return none, err
	}
	tags := source.Tags
	if strings.EqualFold(meta["X-Amz-Tagging-Directive"], "REPLACE") {
		if tags, err = uploadedTags(meta[tagsHeader]); err != nil {
			return none, err
		}
	}
	b, err := s.receive(verified(f, &source), source.Size)
	if err != nil {
		return none, err
	}
	defer b.discard()
	b.checksum, b.tags = source.Checksum, tags
	v, n, err := s.place(dstBucket, dstKey, b, headers, objectevent.CopyObject, nil)
	if err != nil {
		return none, err
	}
	s.settle(n, s.announce(dstBucket, dstKey, v, objectevent.CopyObject))
	return gofakes3.CopyObjectResult{ETag: quoted(v.ETag), LastModified: gofakes3.NewContentTime(v.Modified)}, nil
}

// changesObject reports whether a copy of an object to itself would change anything about it.
func changesObject(meta map[string]string) bool {
	for _, name := range []string{
		"X-Amz-Storage-Class", "X-Amz-Website-Redirect-Location", "X-Amz-Server-Side-Encryption",
		"X-Amz-Checksum-Algorithm",
	} {
		if meta[name] != "" {
			return true
		}
	}
	return strings.EqualFold(meta["X-Amz-Metadata-Directive"], "REPLACE") ||
		strings.EqualFold(meta["X-Amz-Tagging-Directive"], "REPLACE")
}

// copiedHeaders returns the headers of the copy: the source's, or the request's own if the directive is REPLACE.
func copiedHeaders(meta map[string]string, source version) (map[string]string, error) {
	own := map[string]string{}
	for name := range strings.SplitSeq(meta[ownHeader], ",") {
		if value, ok := meta[name]; ok {
			own[name] = value
		}
	}
	if strings.EqualFold(meta["X-Amz-Metadata-Directive"], "REPLACE") {
		return storedHeaders(own)
	}
	kept := map[string]string{}
	maps.Copy(kept, source.Headers)
	for _, name := range encryptionHeaders { // a copy has its own encryption
		if delete(kept, name); own[name] != "" {
			kept[name] = own[name]
		}
	}
	return kept, nil
}

func copyConditions(meta map[string]string, source version) error {
	const p = "X-Amz-Copy-Source-If-"
	c := readConditions{
		ifMatch: meta[p+"Match"], ifNoneMatch: meta[p+"None-Match"],
		ifModifiedSince: meta[p+"Modified-Since"], ifUnmodifiedSince: meta[p+"Unmodified-Since"],
	}
	if c.check(source.ETag, source.Modified) != http.StatusOK {
		return gofakes3.ErrorMessage(gofakes3.ErrPreconditionFailed,
			"At least one of the pre-conditions you specified did not hold")
	}
	return nil
}

// readConditions holds the conditional headers of a read request.
type readConditions struct {
	ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince string
}

// check returns the status that the conditions require: 200, 304 or 412 (RFC 9110, section 13.2.2). etag is given
// without quotes.
func (c readConditions) check(etag string, modified time.Time) int {
	modified = modified.Truncate(time.Second)
	if c.ifMatch != "" {
		if !matchesETag(c.ifMatch, etag) {
			return http.StatusPreconditionFailed
		}
	} else if t, err := http.ParseTime(c.ifUnmodifiedSince); err == nil && modified.After(t) {
		return http.StatusPreconditionFailed
	}
	if c.ifNoneMatch != "" {
		if matchesETag(c.ifNoneMatch, etag) {
			return http.StatusNotModified
		}
	} else if t, err := http.ParseTime(c.ifModifiedSince); err == nil && !modified.After(t) {
		return http.StatusNotModified
	}
	return http.StatusOK
}

func quoted(etag string) string { return `"` + etag + `"` }
