package s3

import (
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // one of the checksums that S3 offers, which guard against accidents
	"crypto/sha256"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// checksums holds the checksum algorithms that an upload may request.
var checksums = map[string]func() hash.Hash{
	"CRC32":     func() hash.Hash { return crc32.NewIEEE() },
	"CRC32C":    func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"CRC64NVME": func() hash.Hash { return crc64.New(crc64.MakeTable(nvme)) },
	"SHA1":      sha1.New,
	"SHA256":    sha256.New,
}

// nvme is the polynomial of CRC64NVME, reversed.
const nvme = 0x9a6c9329ac4bc9b5

// algorithms lists the names of the checksum algorithms, sorted.
var algorithms = slices.Sorted(maps.Keys(checksums))

// The checksum types: over all bytes, or over the checksums of the parts.
const (
	fullObject = "FULL_OBJECT"
	composite  = "COMPOSITE"
)

// checksum is an object's checksum, as the upload requested it.
type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"value"` // Base64; a composite one includes the number of parts
	Type      string `json:"type"`
}

const checksumPrefix = "X-Amz-Checksum-"

// set adds the checksum headers to h.
func (c *checksum) set(h http.Header) {
	h.Set(checksumPrefix+c.Algorithm, c.Value)
	h.Set(checksumPrefix+"Type", c.Type)
}

// chosenChecksum returns the checksum algorithm that a client requests for an upload, or "" if it requests none.
// value is the expected checksum, if a header contains it.
func chosenChecksum(h http.Header) (algorithm, value string) {
	for _, name := range algorithms {
		if value := h.Get(checksumPrefix + name); value != "" {
			return name, value
		}
	}
	name := strings.ToUpper(h.Get("X-Amz-Sdk-Checksum-Algorithm"))
	if trailer, ok := strings.CutPrefix(strings.ToLower(h.Get("X-Amz-Trailer")), strings.ToLower(checksumPrefix)); ok {
		name = strings.ToUpper(trailer)
	}
	if checksums[name] == nil {
		return "", ""
	}
	return name, ""
}

// objectWriter adds the headers that S3 sends with objects and gofakes3 omits: the object's encryption, and its
// checksum in the algorithm that the client chose for the upload.
type objectWriter struct {
	http.ResponseWriter
	body    *summedBody // nil if no checksum was requested
	part    bool        // the body is a part of a multipart upload
	reveals bool        // the response includes a stored object's checksum
	decided bool

	encryption [3]string // values of the request's encryptionHeaders; empty for a read
}

// withObjectHeaders wraps w for requests about the content of an object; for others it returns w itself.
func (s *store) withObjectHeaders(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	part := r.URL.Query().Has("uploadId")
	reads := (r.Method == http.MethodGet || r.Method == http.MethodHead) && !part && !r.URL.Query().Has("uploads")
	if key == "" || !reads && r.Method != http.MethodPut {
		return w
	}
	o := &objectWriter{ResponseWriter: w, part: part, reveals: strings.EqualFold(r.Header.Get(checksumPrefix+"Mode"),
		"ENABLED") && r.Header.Get("Range") == ""}
	if r.Method == http.MethodPut {
		for i, name := range encryptionHeaders {
			o.encryption[i] = r.Header.Get(name)
		}
	}
	if r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") == "" {
		o.body = s.summed(r)
	}
	return o
}

// summed replaces a request's body with one that computes the checksum, if the client requests one.
func (s *store) summed(r *http.Request) *summedBody {
	algorithm, value := chosenChecksum(r.Header)
	if algorithm == "" {
		return nil
	}
	b := &summedBody{ReadCloser: r.Body, algorithm: algorithm, expected: value, sum: checksums[algorithm](),
		id: rand.Text()}
	if chunked, ok := r.Body.(*chunkedBody); ok {
		b.trailer = func() string { return chunked.trailer.Get(checksumPrefix + algorithm) }
	}
	r.Body = b
	r.Header.Set(sumHeader, b.id)
	s.sums.Store(b.id, b)
	return b
}

func (w *objectWriter) WriteHeader(status int) {
	if !w.decided && status >= http.StatusOK && status < http.StatusMultipleChoices {
		h := w.Header()
		lowerMetadata(h)
		for i, name := range encryptionHeaders {
			if value := w.encryption[i]; value != "" {
				h.Set(name, value)
			}
		}
		if h.Get(encryptionHeaders[0]) == "" {
			h.Set(encryptionHeaders[0], "AES256")
		}
		if w.body != nil {
			w.body.checksum().set(h)
		}
		if w.part {
			h.Del(checksumPrefix + "Type")
		}
		revealChecksum(h, w.reveals)
	}
	w.decided = true
	w.ResponseWriter.WriteHeader(status)
}

// lowerMetadata converts the names of user metadata to lower case, as S3 does. This matters because clients use the
// part after the prefix verbatim.
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

// finish writes the header of a response that has not been started.
func (w *objectWriter) finish() {
	if !w.decided {
		w.WriteHeader(http.StatusOK)
	}
}

// checksumHeader carries a stored object's checksum through gofakes3: its algorithm, value and type, separated by
// spaces.
const checksumHeader = internalPrefix + "Checksum"

func (c *checksum) String() string { return c.Algorithm + " " + c.Value + " " + c.Type }

// revealChecksum replaces checksumHeader with S3's headers, or removes it if wanted is false.
func revealChecksum(h http.Header, wanted bool) {
	if words := strings.Fields(h.Get(checksumHeader)); wanted && len(words) == 3 {
		(&checksum{words[0], words[1], words[2]}).set(h)
	}
	h.Del(checksumHeader)
}
