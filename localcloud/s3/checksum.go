package s3

import (
	"crypto/sha1" //nolint:gosec // one of the checksums that S3 offers, which guard against accidents
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
)

// checksums are the algorithms of checksums that an upload may ask for.
var checksums = map[string]func() hash.Hash{
	"CRC32":  func() hash.Hash { return crc32.NewIEEE() },
	"CRC32C": func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"SHA1":   sha1.New,
	"SHA256": sha256.New,
}

// objectWriter gives the answers about objects the headers that S3 has and
// gofakes3 leaves out: how the object is encrypted, and the checksum of what
// was uploaded in the algorithm that the client chose.
type objectWriter struct {
	http.ResponseWriter
	algorithm string    // empty when no checksum was asked for
	sum       hash.Hash // of the body
	decided   bool
}

// withObjectHeaders returns w itself for requests that are not about the
// content of one object.
func withObjectHeaders(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if key == "" || r.URL.Query().Has("uploadId") || r.URL.Query().Has("uploads") ||
		r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPut {
		return w
	}
	o := &objectWriter{ResponseWriter: w}
	if r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") == "" {
		if o.algorithm = checksumOf(r.Header); o.algorithm != "" {
			o.sum = checksums[o.algorithm]()
			r.Body = &summedBody{r.Body, o.sum}
		}
	}
	return o
}

// checksumOf is the algorithm that the client chose, if it is known here.
func checksumOf(h http.Header) string {
	name := strings.ToUpper(h.Get("X-Amz-Sdk-Checksum-Algorithm"))
	if trailer, ok := strings.CutPrefix(strings.ToLower(h.Get("X-Amz-Trailer")), "x-amz-checksum-"); ok {
		name = strings.ToUpper(trailer)
	}
	if checksums[name] != nil {
		return name
	}
	for name := range checksums {
		if h.Get("X-Amz-Checksum-"+name) != "" {
			return name
		}
	}
	return ""
}

func (w *objectWriter) WriteHeader(status int) {
	if !w.decided && status >= http.StatusOK && status < http.StatusMultipleChoices {
		h := w.Header()
		lowerMetadata(h)
		h.Set("X-Amz-Server-Side-Encryption", "AES256")
		if w.sum != nil {
			h.Set("X-Amz-Checksum-"+w.algorithm, base64.StdEncoding.EncodeToString(w.sum.Sum(nil)))
			h.Set("X-Amz-Checksum-Type", "FULL_OBJECT")
		}
	}
	w.decided = true
	w.ResponseWriter.WriteHeader(status)
}

// lowerMetadata writes the names of user metadata as S3 does: clients take what follows the prefix as it is.
func lowerMetadata(h http.Header) {
	for name, values := range h {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
}

func (w *objectWriter) Write(p []byte) (int, error) {
	if !w.decided {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// finish decides for an answer that nobody has begun to write.
func (w *objectWriter) finish() {
	if !w.decided {
		w.WriteHeader(http.StatusOK)
	}
}

// summedBody computes the checksum of a body while it is read.
type summedBody struct {
	io.ReadCloser
	sum hash.Hash
}

func (b *summedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.sum.Write(p[:n])
	return n, err
}
