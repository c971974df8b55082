package s3

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Internal headers. They carry data through gofakes3 that it would not pass on.
const (
	internalPrefix = "X-Amz-Stepback-"
	// keptPrefix precedes the names of keptHeaders.
	keptPrefix = internalPrefix + "Kept-"
)

// keptHeaders lists headers that an object keeps and gofakes3 does not pass on.
var keptHeaders = []string{"Cache-Control", "Content-Language", "Expires"}

// byteRange matches the only form of a range that S3 honours; it ignores all others.
var byteRange = regexp.MustCompile(`^bytes=(\d+-\d*|-\d+)$`)

// prepare rewrites the headers of a request for gofakes3.
func prepare(r *http.Request) {
	for name := range r.Header {
		if strings.HasPrefix(name, internalPrefix) {
			r.Header.Del(name)
		}
	}
	for _, name := range keptHeaders {
		if value := r.Header.Get(name); value != "" && (r.Method == http.MethodPut || r.Method == http.MethodPost) {
			r.Header.Set(keptPrefix+name, value)
		}
	}
	if !byteRange.MatchString(r.Header.Get("Range")) {
		r.Header.Del("Range")
	}
	markOwnHeaders(r)
	if query := r.URL.Query(); query.Get("versionId") == nullVersion {
		query.Set("versionId", nullMark)
		r.URL.RawQuery = query.Encode()
	}
}

// markOwnHeaders records which of the headers that an object keeps are in the request of a copy.
func markOwnHeaders(r *http.Request) {
	if r.Header.Get("X-Amz-Copy-Source") == "" {
		return
	}
	var own []string
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-Meta-") || strings.HasPrefix(name, "Content-") ||
			strings.HasPrefix(name, keptPrefix) || slices.Contains(encryptionHeaders, name) {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	r.Header.Set(ownHeader, strings.Join(own, ","))
}
