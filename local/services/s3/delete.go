package s3

import (
	"encoding/xml"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
)

// deleteRequest is the body of DeleteObjects.
type deleteRequest struct {
	XMLName xml.Name `xml:"Delete"`
	Objects []struct {
		Key          string
		VersionID    *string `xml:"VersionId"`
		ETag         string
		LastModified string `xml:"LastModifiedTime"`
		Size         string
	} `xml:"Object"`
	Quiet bool
}

// deleteResult is the response of DeleteObjects.
type deleteResult struct {
	XMLName xml.Name `xml:"DeleteResult"`
	Xmlns   string   `xml:"xmlns,attr"`
	Deleted []deletedElement
	Errors  []deleteError `xml:"Error"`
}

type deletedElement struct {
	Key             string
	VersionID       string `xml:"VersionId,omitempty"`
	DeleteMarker    bool   `xml:",omitempty"`
	MarkerVersionID string `xml:"DeleteMarkerVersionId,omitempty"`
}

type deleteError struct {
	Key       string
	VersionID string `xml:"VersionId,omitempty"`
	Code      string
	Message   string
}

// mostDeleted is the maximum number of objects of a DeleteObjects.
const mostDeleted = 1000

// hasDigest reports whether a request has an MD5 or a checksum of its body.
func hasDigest(h http.Header) bool {
	if h.Get("Content-MD5") != "" || h.Get("X-Amz-Trailer") != "" {
		return true
	}
	for name := range h {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(checksumPrefix)) {
			return true
		}
	}
	return false
}

// deleteObjects implements DeleteObjects.
func (s *store) deleteObjects(c *call) (any, error) {
	if c.Header.Get("X-Amz-Mfa") != "" {
		return nil, notImplemented("Deletion with a second factor (x-amz-mfa) is not served here.")
	}
	var in deleteRequest
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if !hasDigest(c.Header) {
		return nil, fail("InvalidRequest", "Missing required header for this request: Content-MD5", nil)
	}
	if len(in.Objects) == 0 || len(in.Objects) > mostDeleted {
		return nil, malformedXML()
	}
	if err := s.forgetLatest(c.bucket, &in); err != nil {
		return nil, s.storageError(err)
	}
	out := deleteResult{Xmlns: namespace}
	for _, o := range in.Objects {
		id := ""
		if o.VersionID != nil {
			id = *o.VersionID
		}
		d, err := s.deleteNamed(c, o.Key, id, id != "", func(v *version) error { return v.matches(o.Key, o.ETag, o.LastModified, o.Size) })
		if err != nil {
			var e *aws.Error
			if !errors.As(err, &e) {
				e = fail("InternalError", err.Error(), nil)
			}
			out.Errors = append(out.Errors, deleteError{o.Key, id, e.Code, e.Message})
			continue
		}
		if in.Quiet {
			continue
		}
		deleted := deletedElement{Key: o.Key, VersionID: id, DeleteMarker: d.marker}
		if d.marker {
			deleted.MarkerVersionID = d.versionID
		}
		out.Deleted = append(out.Deleted, deleted)
	}
	return out, nil
}

// matches returns an error unless a version has the ETag, time and size that a deletion expects; empty ones are any.
func (v *version) matches(key, etag, modified, size string) error {
	if etag == "" && modified == "" && size == "" {
		return nil
	}
	if v == nil {
		if etag == "*" {
			return conditionFailed("If-Match")
		}
		return noSuchKey(key)
	}
	switch {
	case etag != "" && !matchesETag(etag, v.ETag):
		return conditionFailed("If-Match")
	case size != "" && size != strconv.FormatInt(v.Size, 10):
		return conditionFailed("x-amz-if-match-size")
	case modified != "":
		at, err := time.Parse(time.RFC3339, modified)
		if err != nil {
			at, err = http.ParseTime(modified)
		}
		if err != nil {
			return malformedXML()
		}
		if !at.Truncate(time.Second).Equal(v.Modified.Truncate(time.Second)) {
			return conditionFailed("x-amz-if-match-last-modified-time")
		}
	}
	return nil
}

// forgetLatest removes objects from the inventory together, before they are deleted one by one.
func (s *store) forgetLatest(bucket string, in *deleteRequest) error {
	status, err := s.versioningOf(bucket)
	if err != nil || status != "" {
		return err
	}
	var records []string
	for _, o := range in.Objects {
		if o.ETag == "" && o.LastModified == "" && o.Size == "" {
			records = append(records, s.recordPath(bucket, o.Key))
		}
	}
	return s.files.Forget(records...)
}

// remove deletes an object, and reports whether it existed. allowed, if not nil, receives it and may return an error.
func (s *store) remove(bucket, key string, allowed func(*version) error) (gone bool, err error) {
	defer s.prune(bucket, key)
	defer s.turn(bucket, key)()
	if allowed != nil {
		v, err := s.current(bucket, key)
		if err == nil {
			err = allowed(v)
		}
		if err != nil {
			return false, err
		}
	}
	return s.unlink(bucket, key)
}

// unlink deletes an object's file and record, and reports whether it existed. The caller has the object's turn, and
// calls prune after it.
func (s *store) unlink(bucket, key string) (gone bool, err error) {
	if err := s.files.Forget(s.recordPath(bucket, key)); err != nil {
		return false, err
	}
	plain, beside := s.objectPaths(bucket, key)
	for _, path := range []string{plain, beside} {
		info, err := os.Lstat(path)
		if isMissing(err) || err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return gone, err
		}
		gone = true
	}
	recordPath := s.recordPath(bucket, key)
	if err := os.Remove(recordPath); err != nil && !isMissing(err) {
		return gone, err
	}
	return gone, nil
}

// prune removes dir and its parents below top while they are empty. A file that has the name of one in the meantime
// stays.
func prune(dir, top string) {
	for ; len(dir) > len(top); dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if isMissing(err) {
			continue
		}
		if err != nil || !info.IsDir() || os.Remove(dir) != nil {
			return
		}
	}
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
