package s3

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
)

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
	if err := v.requireKey(c.Header, &customerHeaders); err != nil {
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
	if len(c.query) == 0 {
		return nil, nil
	}
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
