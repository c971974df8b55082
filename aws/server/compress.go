package server

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The encodings of bodies.
const (
	gzipped   = "gzip"
	deflated  = "deflate" // in zlib's format
	identical = "identity"
)

// leastCompressed is the size from which responses are compressed, in bytes.
const leastCompressed = 4 << 10

// compress returns the body in the encoding that a request prefers, and sets the header Content-Encoding. Small bodies
// stay as they are.
func compress(h http.Header, accepted string, body []byte) []byte {
	if len(body) < leastCompressed {
		return body
	}
	var b bytes.Buffer
	var z io.WriteCloser
	encoding := preferred(accepted)
	switch encoding {
	case gzipped:
		z = gzip.NewWriter(&b)
	case deflated:
		z = zlib.NewWriter(&b)
	default:
		return body
	}
	_, _ = z.Write(body) // writing to a buffer cannot fail
	_ = z.Close()
	h.Set("Content-Encoding", encoding)
	return b.Bytes()
}

// preferred returns the encoding that an Accept-Encoding header prefers, as DynamoDB reads it; empty if it accepts
// none. Of encodings with the same quality, the first one in the header counts; * stands for those that the header does
// not name, gzip before deflate.
func preferred(header string) string {
	best, most := "", 0.0
	named := map[string]bool{}
	star := 0.0
	for entry := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(entry, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q := qualityOf(parameters)
		if name == "*" {
			star = q
			continue
		}
		if name != gzipped && name != deflated {
			continue
		}
		named[name] = true
		if q > most {
			best, most = name, q
		}
	}
	for _, name := range []string{gzipped, deflated} {
		if !named[name] && star > most {
			best, most = name, star
		}
	}
	return best
}

// qualityOf returns the first quality among the parameters of an encoding, at most 1. Without one, and if it is no
// number, it is 1.
func qualityOf(parameters string) float64 {
	_, text, ok := strings.Cut(parameters, "q=")
	if !ok {
		return 1
	}
	text, _, _ = strings.Cut(text, ";")
	q, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 1
	}
	return min(q, 1)
}
