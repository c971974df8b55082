package s3

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"stepback/internal/objectevent"
)

// keptHeaders lists headers that an object keeps besides those of encryption and of user metadata.
var keptHeaders = []string{
	"Cache-Control",
	"Content-Disposition",
	"Content-Encoding",
	"Content-Language",
	"Content-Type",
	"Expires",
	redirectHeader,
}

const (
	userMetadata   = "X-Amz-Meta-"
	redirectHeader = "X-Amz-Website-Redirect-Location"
	classHeader    = "X-Amz-Storage-Class"
	versionHeader  = "X-Amz-Version-Id"
	markerHeader   = "X-Amz-Delete-Marker"
	standard       = "STANDARD"
)

// maxUserMetadata is S3's limit of 2 KB for x-amz-meta- names and values.
const maxUserMetadata = 2048

// mostObject is the maximum size of a body, and of a copy, in bytes.
const mostObject = 5 << 30

// storageClasses lists the storage classes. Objects of the archived ones cannot be read before they are restored.
var (
	storageClasses = []string{
		standard,
		"REDUCED_REDUNDANCY",
		"STANDARD_IA",
		"ONEZONE_IA",
		"INTELLIGENT_TIERING",
		"GLACIER",
		"DEEP_ARCHIVE",
		"GLACIER_IR",
	}
	archived = []string{"GLACIER", "DEEP_ARCHIVE"}
)

// description represents the headers of an upload that describe the object.
type description struct {
	headers      map[string]string
	tags         []tag
	storageClass string // empty for STANDARD
	customerKey  *customerKey
	retention    *retention
	legalHold    bool
	acl          *acl
}

// describes reads the headers of an upload.
func (s *store) describes(c *call) (d description, err error) {
	if d.headers, err = storedHeaders(c.Header); err != nil {
		return d, err
	}
	if d.tags, err = uploadedTags(c.Header.Get(tagsHeader)); err != nil {
		return d, err
	}
	if d.storageClass, err = storageClass(c.Header.Get(classHeader)); err != nil {
		return d, err
	}
	if err := s.permitCustomerKey(c); err != nil {
		return d, err
	}
	if d.customerKey, err = customerKeyOf(c.Header, &customerHeaders); err != nil {
		return d, err
	}
	if err := s.encrypt(c.bucket, &d); err != nil {
		return d, err
	}
	if d.retention, d.legalHold, err = s.requestedLock(c); err != nil {
		return d, err
	}
	bucketOwner, err := s.ownerOf(c.bucket)
	if err != nil {
		return d, err
	}
	d.acl, err = s.uploadedACL(c, bucketOwner)
	return d, err
}

// uploadedACL returns the ACL of a new object, nil for the private one of the bucket's owner.
func (s *store) uploadedACL(c *call, bucketOwner string) (*acl, error) {
	writer := bucketOwner
	ownership, err := s.ownershipOf(c.bucket)
	if err != nil {
		return nil, err
	}
	if ownership != ownerEnforced && c.caller.account != "" && !s.owns(c.caller, bucketOwner) {
		writer = c.caller.account
	}
	a, err := s.requestedACL(c.Header, writer, bucketOwner)
	if err != nil {
		return nil, err
	}
	if err := s.permitACL(c.bucket, a); err != nil {
		return nil, err
	}
	switch {
	case ownership == ownerEnforced, writer == bucketOwner && a == nil:
		return nil, nil
	case ownership == ownerPreferred && c.Header.Get(aclHeader) == "bucket-owner-full-control":
		return s.canned("private", bucketOwner, bucketOwner), nil
	case a == nil:
		return s.canned("private", writer, bucketOwner), nil
	}
	return a, nil
}

// storageClass returns the stored form of a storage class.
func storageClass(name string) (string, error) {
	switch {
	case name == "" || name == standard:
		return "", nil
	case slices.Contains(storageClasses, name):
		return name, nil
	}
	return "", fail(
		"InvalidStorageClass",
		"The storage class you specified is not valid",
		members{"StorageClassRequested": name},
	)
}

// storedHeaders returns the headers that an object keeps.
func storedHeaders(h http.Header) (map[string]string, error) {
	kept, size := map[string]string{}, 0
	for name, values := range h {
		value := strings.Join(values, ",")
		if name == "Content-Encoding" {
			value = withoutChunked(value)
		}
		switch {
		case strings.HasPrefix(name, userMetadata):
			size += len(name) - len(userMetadata) + len(value)
			kept[name] = value
		case value != "" && (slices.Contains(keptHeaders, name) || slices.Contains(encryptionHeaders, name)):
			kept[name] = value
		}
	}
	if size > maxUserMetadata {
		return nil, fail("MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size",
			members{"Size": size, "MaxSizeAllowed": maxUserMetadata})
	}
	return kept, nil
}

// putObject implements PutObject.
func (s *store) putObject(c *call) (any, error) {
	d, err := s.describes(c)
	if err != nil {
		return nil, err
	}
	conditions, err := putConditions(c)
	if err != nil {
		return nil, err
	}
	b, err := s.receiveBody(c)
	if err != nil {
		return nil, err
	}
	defer b.discard()
	b.description = d
	v, n, err := s.place(c.bucket, c.key, &b, objectevent.PutObject, conditions)
	if err != nil {
		return nil, err
	}
	s.settle(n, s.announce(c.bucket, c.key, v, objectevent.PutObject))
	c.header.Set("ETag", quoted(v.ETag))
	c.showVersion(&v)
	s.showEncryption(c.header, &v)
	s.showExpiration(c, &v)
	if v.Checksum != nil {
		v.Checksum.set(c.header)
	}
	return nil, nil
}

// receiveBody stores the body of an upload or of a part, and computes the checksum that the client chose.
func (s *store) receiveBody(c *call) (body, error) {
	switch {
	case c.ContentLength < 0:
		return body{}, fail("MissingContentLength", "You must provide the Content-Length HTTP header.", nil)
	case c.ContentLength > mostObject:
		return body{}, fail("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size",
			members{"ProposedSize": c.ContentLength, "MaxSizeAllowed": mostObject})
	}
	check, err := newBodyCheck(c.Request)
	if err != nil {
		return body{}, err
	}
	b, err := s.receive(sentBody{c.Body}, c.ContentLength, check)
	if err != nil {
		return body{}, err
	}
	if err := check.finish(); err != nil {
		b.discard()
		return body{}, err
	}
	b.checksum = check.checksum()
	if check.requested {
		b.requested = check.algorithm
	}
	return b, nil
}

// putConditions returns the check of If-Match and If-None-Match against the current version; nil if there are none.
func putConditions(c *call) (func(*version) error, error) {
	match, noneMatch := c.Header.Get("If-Match"), c.Header.Get("If-None-Match")
	switch {
	case match == "" && noneMatch == "":
		return nil, nil
	case match != "" && noneMatch != "":
		return nil, notImplemented("A header you provided implies functionality that is not implemented")
	case noneMatch != "" && noneMatch != "*":
		return nil, fail(
			"NotImplemented",
			"A header you provided implies functionality that is not implemented",
			members{"Header": "If-None-Match"},
		)
	}
	return func(current *version) error {
		switch {
		case noneMatch == "*" && current != nil:
			return conditionFailed("If-None-Match")
		case match != "" && current == nil:
			return noSuchKey(c.key)
		case match != "" && !matchesETag(match, current.ETag):
			return conditionFailed("If-Match")
		}
		return nil
	}, nil
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

func quoted(etag string) string { return `"` + etag + `"` }

// showVersion adds the version ID of an object to a response. An object of a bucket that never had versioning has none.
func (c *call) showVersion(v *version) {
	if v.ID != "" || c.query.Has("versionId") {
		c.header.Set(versionHeader, shownID(v.ID))
	}
}

// showObject adds the headers that describe a version to a response.
func (s *store) showObject(c *call, v *version) {
	h := c.header
	h.Set("Content-Type", "binary/octet-stream") // S3's default
	for name, value := range v.Headers {
		switch {
		case strings.HasPrefix(name, userMetadata):
			h[strings.ToLower(name)] = []string{shownMetadata(value)} // clients use the part after the prefix verbatim
		case !slices.Contains(encryptionHeaders, name):
			h.Set(name, value)
		}
	}
	h.Set("ETag", quoted(v.ETag))
	h.Set("Last-Modified", v.Modified.Format(http.TimeFormat))
	h.Set("Accept-Ranges", "bytes")
	if len(v.Tags) > 0 {
		h.Set(tagCountHeader, strconv.Itoa(len(v.Tags)))
	}
	if v.StorageClass != "" {
		h.Set(classHeader, v.StorageClass)
	}
	c.showVersion(v)
	s.showEncryption(h, v)
	s.showExpiration(c, v)
	v.showLock(h)
	if v.Restored != nil {
		h.Set("X-Amz-Restore", `ongoing-request="false", expiry-date="`+v.Restored.UTC().Format(http.TimeFormat)+`"`)
	}
}

// shownMetadata returns the value of user metadata as S3 sends it. A value that is not US-ASCII is taken for ISO-8859-1
// and encoded by RFC 2047.
func shownMetadata(value string) string {
	if strings.IndexFunc(value, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return value
	}
	letters := make([]rune, 0, len(value))
	for _, b := range []byte(value) {
		letters = append(letters, rune(b))
	}
	return mime.BEncoding.Encode("UTF-8", string(letters))
}

// showExpiration adds the header that says when a lifecycle deletes a version.
func (s *store) showExpiration(c *call, v *version) {
	all, err := s.settingsOf(c.bucket)
	if err != nil || all["lifecycle"] == "" {
		return
	}
	l, err := parseLifecycle(all["lifecycle"])
	if err != nil {
		return
	}
	for i := range l.Rules {
		r := &l.Rules[i]
		if !r.appliesTo(c.key, v.Size, v.Tags) || r.Expiration == nil ||
			r.Expiration.Days == 0 && r.Expiration.Date == "" {
			continue
		}
		at := midnightAfter(v.Modified, r.Expiration.Days)
		if r.Expiration.Date != "" {
			at, _ = time.Parse(time.RFC3339, r.Expiration.Date) // it was checked when it was put
		}
		c.header.Set(
			"X-Amz-Expiration",
			`expiry-date="`+at.UTC().Format(http.TimeFormat)+`", rule-id="`+url.QueryEscape(r.ID)+`"`,
		)
		return
	}
}
