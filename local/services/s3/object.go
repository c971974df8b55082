package s3

import (
	"mime"
	"net/http"
	"net/url"
	"os"
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
	if d.customerKey, err = customerKeyOf(c.Header, customerPrefix); err != nil {
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
	b, err := s.receive(c.Body, c.ContentLength, check)
	if err != nil {
		return body{}, err
	}
	if err := check.finish(); err != nil {
		b.discard()
		return body{}, err
	}
	b.checksum = check.checksum()
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

// getObject implements GetObject and HeadObject.
func (s *store) getObject(c *call) (any, error) {
	overrides, err := c.overrides()
	if err != nil {
		return nil, err
	}
	for _, name := range encryptionHeaders {
		if value := c.Header.Get(name); value != "" {
			return nil, invalidArgument(strings.ToLower(name), value,
				strings.ToLower(name)+" header is not supported for this operation.")
		}
	}
	f, v, err := s.openCalled(c)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := v.requireKey(c.Header, customerPrefix); err != nil {
		return nil, err
	}
	s.showObject(c, &v)
	if err := conditionsOf(c.Header, "").check(&v); err != nil {
		return nil, err
	}
	if slices.Contains(archived, v.StorageClass) && c.Method == http.MethodGet && (v.Restored == nil ||
		s.stamps.now().After(*v.Restored)) {
		return nil, fail(
			"InvalidObjectState",
			"The operation is not valid for the object's storage class",
			members{"StorageClass": v.StorageClass},
		)
	}
	span, status, err := v.span(c)
	if err != nil {
		return nil, err
	}
	for name, value := range overrides {
		c.header.Set(name, value)
	}
	if strings.EqualFold(c.Header.Get(checksumPrefix+"Mode"), "ENABLED") && v.Checksum != nil &&
		(c.Header.Get("Range") == "" && !c.query.Has("partNumber")) {
		v.Checksum.set(c.header)
	}
	c.header.Set("Content-Length", strconv.FormatInt(span.length, 10))
	if status == http.StatusPartialContent {
		c.header.Set("Content-Range", span.of(v.Size))
	}
	if c.Method == http.MethodHead {
		c.w.WriteHeader(status)
		return written{}, nil
	}
	return written{}, s.send(c, f, &v, span, status)
}

// overrides returns the headers of the response that the query parameters response-… replace.
func (c *call) overrides() (map[string]string, error) {
	found := map[string]string{}
	for _, name := range []string{"Content-Type", "Content-Language", "Expires", "Cache-Control", "Content-Disposition", "Content-Encoding"} {
		if parameter := "response-" + strings.ToLower(name); c.query.Has(parameter) {
			found[name] = c.query.Get(parameter)
		}
	}
	if len(found) > 0 && c.caller.anonymous {
		return nil, fail(
			"InvalidRequest",
			"Request specific response headers cannot be used for anonymous GET requests.",
			nil,
		)
	}
	return found, nil
}

// openCalled opens the version that a call names. If it is a delete marker, the response says so.
func (s *store) openCalled(c *call) (*os.File, version, error) {
	f, v, err := s.openNamed(c.bucket, c.key, c.query.Get("versionId"), c.query.Has("versionId"))
	if marker := (*markerError)(nil); errorAs(err, &marker) {
		c.header.Set(markerHeader, "true")
		c.header.Set(versionHeader, shownID(marker.entry.ID))
		if c.query.Has("versionId") {
			c.header.Set("Last-Modified", marker.entry.Modified.Format(http.TimeFormat))
			return nil, v, methodNotAllowed(c.Method, "DeleteMarker")
		}
		return nil, v, noSuchKey(c.key)
	}
	return f, v, err
}

// span is a range of an object.
type span struct{ start, length int64 }

// of returns the value of Content-Range.
func (r span) of(size int64) string {
	return "bytes " + strconv.FormatInt(
		r.start,
		10,
	) + "-" + strconv.FormatInt(
		r.start+r.length-1,
		10,
	) + "/" + strconv.FormatInt(
		size,
		10,
	)
}

// span returns the bytes that a request asks for, by a range or by the number of a part, and the status of its
// response.
func (v *version) span(c *call) (span, int, error) {
	whole := span{0, v.Size}
	if c.query.Has("partNumber") {
		return v.partSpan(c)
	}
	text, ok := strings.CutPrefix(c.Header.Get("Range"), "bytes=")
	first, last, isRange := strings.Cut(text, "-")
	if !ok || !isRange || first == "" && last == "" ||
		strings.Trim(first+last, "0123456789") != "" { // S3 ignores all other forms
		return whole, http.StatusOK, nil
	}
	unsatisfiable := fail("InvalidRange", "The requested range is not satisfiable",
		members{"ActualObjectSize": v.Size, "RangeRequested": c.Header.Get("Range")})
	if first == "" {
		n := capped(last)
		if n == 0 || v.Size == 0 {
			return whole, 0, unsatisfiable
		}
		n = min(n, v.Size)
		return span{v.Size - n, n}, http.StatusPartialContent, nil
	}
	from, to := capped(first), v.Size-1
	if last != "" {
		to = min(capped(last), to)
		if capped(last) < from {
			return whole, http.StatusOK, nil
		}
	}
	if from >= v.Size {
		return whole, 0, unsatisfiable
	}
	return span{from, to - from + 1}, http.StatusPartialContent, nil
}

// capped parses digits; a number beyond the largest is the largest.
func capped(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 1<<63 - 1
	}
	return n
}

// partSpan returns the bytes of a part of an object that was uploaded in parts. An object that was not has one part.
func (v *version) partSpan(c *call) (span, int, error) {
	number, err := strconv.Atoi(c.query.Get("partNumber"))
	switch {
	case err != nil || number < 1 || number > mostParts:
		return span{}, 0, invalidArgument(
			"partNumber",
			c.query.Get("partNumber"),
			"Part number must be an integer between 1 and 10000, inclusive",
		)
	case c.Header.Get("Range") != "":
		return span{}, 0, fail("InvalidRequest", "Cannot specify both Range header and partNumber query parameter", nil)
	}
	parts := v.Parts
	if len(parts) > 0 {
		c.header.Set("X-Amz-Mp-Parts-Count", strconv.Itoa(len(parts)))
	} else {
		parts = []storedPart{{Number: 1, Size: v.Size}}
	}
	if number > len(parts) {
		return span{}, 0, &invalidPartNumber
	}
	at := int64(0)
	for _, p := range parts[:number-1] {
		at += p.Size
	}
	status := http.StatusPartialContent
	if v.Size == 0 {
		status = http.StatusOK
	}
	if sum := parts[number-1].Checksum; sum != "" && strings.EqualFold(c.Header.Get(checksumPrefix+"Mode"), "ENABLED") {
		c.header.Set(checksumPrefix+v.Checksum.Algorithm, sum)
		c.header.Set(checksumPrefix+"Type", v.Checksum.Type)
	}
	return span{at, parts[number-1].Size}, status, nil
}

// deleteObject implements DeleteObject.
func (s *store) deleteObject(c *call) (any, error) {
	if c.Header.Get("X-Amz-Mfa") != "" {
		return nil, notImplemented("Deletion with a second factor (x-amz-mfa) is not served here.")
	}
	var allowed func(*version) error
	if match := c.Header.Get("If-Match"); match != "" {
		allowed = func(v *version) error {
			switch {
			case v == nil && match == "*":
				return conditionFailed("If-Match")
			case v == nil:
				return noSuchKey(c.key)
			case !matchesETag(match, v.ETag):
				return conditionFailed("If-Match")
			}
			return nil
		}
	}
	d, err := s.deleteNamed(c, c.key, c.query.Get("versionId"), c.query.Has("versionId"), allowed)
	if err != nil {
		return nil, err
	}
	if d.versionID != "" {
		c.header.Set(versionHeader, d.versionID)
	}
	if d.marker {
		c.header.Set(markerHeader, "true")
	}
	return nil, nil
}

// deletion is the result of the deletion of an object or a version.
type deletion struct {
	versionID string // of the deleted version or of the new delete marker
	marker    bool   // a delete marker was made or deleted
}

// deleteNamed deletes an object or, if byVersion is true, one version. allowed, if not nil, receives the version and
// may return an error.
func (s *store) deleteNamed(c *call, key, id string, byVersion bool, allowed func(*version) error) (deletion, error) {
	if !byVersion {
		d, err := s.deleteLatest(c.bucket, key, allowed)
		return d, s.storageError(err)
	}
	bypass := c.truth("X-Amz-Bypass-Governance-Retention")
	return s.DeleteObjectVersion(c.bucket, key, keptID(id), func(v *version) error {
		if allowed != nil {
			if err := allowed(v); err != nil {
				return err
			}
		}
		return v.removable(s.stamps.now(), bypass)
	})
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
