package s3

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/johannesboyne/gofakes3"

	"stepback/aws"
)

// front returns the handler in front of gofakes3. It implements what gofakes3 lacks: it rejects requests that are
// too long or would be misunderstood, decodes aws-chunked bodies, applies the conditional headers of reads, and
// adds encryption and checksum headers to responses about objects. It also serves the operations that gofakes3 does
// not implement, or not completely.
func (s *store) front(protocol http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		own := s.ownOperation(r)
		if refusal := refuse(r, own != nil); refusal != nil {
			writeError(w, r, refusal)
			return
		}
		if refusal := s.refuseMembers(r); refusal != nil {
			writeError(w, r, refusal)
			return
		}
		if refusal := decodeChunked(r); refusal != nil {
			writeError(w, r, refusal)
			return
		}
		if refusal := boundMessage(r); refusal != nil {
			writeError(w, r, refusal)
			return
		}
		prepare(r)
		errors := &errorWriter{ResponseWriter: w}
		defer errors.finish()
		if own != nil {
			own(errors)
			return
		}
		w = s.withObjectHeaders(errors, r)
		if o, ok := w.(*objectWriter); ok {
			defer s.sums.Delete(r.Header.Get(sumHeader))
			defer o.finish()
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			protocol.ServeHTTP(w, r)
			return
		}
		cw := &conditionalWriter{ResponseWriter: w, request: r, conditions: takeConditions(r.Header)}
		protocol.ServeHTTP(cw, r)
		cw.finish()
	})
}

// setSecurityHeaders keeps stored objects from becoming active content of the origin that serves them, which other
// services share: a browser runs none of their scripts and does not guess another content type.
func setSecurityHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:")
}

// writeError responds with an S3 error to a request that gofakes3 does not see.
func writeError(w http.ResponseWriter, r *http.Request, e *aws.Error) {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Del("Content-Length")
	w.WriteHeader(e.HTTPStatus())
	if r.Method != http.MethodHead && e.Status != http.StatusNotModified {
		fmt.Fprint(w, xml.Header)
		// If this fails, the client has disconnected.
		_ = xml.NewEncoder(w).Encode(errorBody{Code: gofakes3.ErrorCode(e.Code), Message: e.Message})
	}
}

// understood lists the query parameters of the implemented operations. Any other parameter names a sub-resource (acl,
// lifecycle, policy …): gofakes3 would ignore it and, for a PUT, overwrite the object itself.
var understood = []string{
	"continuation-token", "delete", "delimiter", "encoding-type", "fetch-owner", "key-marker", "list-type",
	"location", "marker", "max-keys", "max-parts", "max-uploads", "optional-object-attributes", "part-number-marker",
	"partNumber", "prefix", "start-after", "tagging", "upload-id-marker", "uploadId", "uploads", "versioning", "x-id",
}

// signing lists the query parameters of presigned URLs with signature version 2; those of version 4 start with
// X-Amz-. No credentials are required.
var signing = []string{"AWSAccessKeyId", "Expires", "Signature"}

// harmless reports whether a query parameter is acceptable, because it is understood or does not change which data
// or operation is requested.
func harmless(name string) bool {
	const amazon = "X-Amz-"
	return slices.Contains(understood, name) || slices.Contains(signing, name) ||
		strings.HasPrefix(name, "response-") ||
		len(name) >= len(amazon) && strings.EqualFold(name[:len(amazon)], amazon)
}

// refuse returns an error for requests that would be misunderstood. own is true if the request is not passed to
// gofakes3.
func refuse(r *http.Request, own bool) *aws.Error {
	if r.Header.Get("Origin") != "" {
		return &aws.Error{Code: "AccessDenied", Status: http.StatusForbidden,
			Message: "Requests of web pages are not served."}
	}
	query := r.URL.Query()
	if _, version, ok := strings.Cut(r.Header.Get("X-Amz-Copy-Source"), "?versionId="); ok && version != nullVersion {
		return notImplemented("Copies of old versions (x-amz-copy-source with versionId) are not served here.")
	}
	if own {
		if query.Has("versionId") && query.Get("versionId") != nullVersion {
			return notImplemented("Tags and attributes of old versions (versionId) are not served here.")
		}
		return nil
	}
	for name := range query {
		if !harmless(name) && name != "versionId" {
			return notImplemented(fmt.Sprintf("The sub-resource or parameter %q is not served here.", name))
		}
	}
	if _, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); key == "" && query.Has("tagging") &&
		r.Method != http.MethodGet {
		return notImplemented("Tags of buckets are not served here.")
	}
	if r.Method == http.MethodPost && !query.Has("delete") && !query.Has("uploads") && !query.Has("uploadId") {
		return notImplemented("Uploads by an HTML form are not served here.")
	}
	return nil
}

func notImplemented(message string) *aws.Error {
	return &aws.Error{Code: "NotImplemented", Message: message, Status: http.StatusNotImplemented}
}
