package s3

import (
	"net/http"
	"time"

	"stepback/aws"
)

// readConditions holds the conditional headers of a read.
type readConditions struct {
	ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince string
	source                                                   bool // of a copy's source
}

// conditionsOf returns the conditional headers whose names start with a prefix.
func conditionsOf(h http.Header, prefix string) readConditions {
	return readConditions{h.Get(prefix + "If-Match"), h.Get(prefix + "If-None-Match"), h.Get(prefix + "If-Modified-Since"),
		h.Get(prefix + "If-Unmodified-Since"), prefix != ""}
}

// check returns the error of the first condition that does not hold (RFC 9110, section 13.2.2).
func (c readConditions) check(v *version) error {
	modified := v.Modified.Truncate(time.Second)
	if c.ifMatch != "" {
		if !matchesETag(c.ifMatch, v.ETag) {
			return conditionFailed(c.name("If-Match"))
		}
	} else if t, ok := parseTime(c.ifUnmodifiedSince); ok && modified.After(t) {
		return conditionFailed(c.name("If-Unmodified-Since"))
	}
	if c.ifNoneMatch != "" {
		if matchesETag(c.ifNoneMatch, v.ETag) {
			return c.notModified("If-None-Match")
		}
	} else if t, ok := parseTime(c.ifModifiedSince); ok && !modified.After(t) {
		return c.notModified("If-Modified-Since")
	}
	return nil
}

// parseTime parses the time in a header; ok is false if it is empty, as it usually is, or invalid.
func parseTime(header string) (t time.Time, ok bool) {
	if header == "" {
		return time.Time{}, false
	}
	t, err := http.ParseTime(header)
	return t, err == nil
}

// notModified returns the result of a read of what the client has already; for a copy it is an error.
func (c readConditions) notModified(condition string) error {
	if c.source {
		return conditionFailed(c.name(condition))
	}
	return &aws.Error{Code: "NotModified", Status: http.StatusNotModified}
}

func (c readConditions) name(condition string) string {
	if c.source {
		return "x-amz-copy-source-" + condition
	}
	return condition
}
