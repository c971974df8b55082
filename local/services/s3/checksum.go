package s3

import (
	"crypto/md5"
	"crypto/sha1" //nolint:gosec // one of the checksums that S3 offers, which guard against accidents
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
)

// checksums holds the checksum algorithms that an upload may request.
var checksums = map[string]func() hash.Hash{
	"CRC32":     func() hash.Hash { return crc32.NewIEEE() },
	"CRC32C":    func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"CRC64NVME": func() hash.Hash { return crc64.New(nvmeTable) },
	"SHA1":      sha1.New,
	"SHA256":    sha256.New,
}

// defaultAlgorithm is the algorithm of uploads that request none.
const defaultAlgorithm = "CRC64NVME"

// nvmeTable is the table of CRC64NVME, whose polynomial is reversed here.
var nvmeTable = crc64.MakeTable(0x9a6c9329ac4bc9b5)

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

// checksumElements encodes a checksum in an element named after its algorithm. Responses embed it, because S3 has the
// elements beside the others; only GetObjectAttributes has them in an element of their own.
type checksumElements struct {
	Value        namedElement
	ChecksumType string `xml:",omitempty"`
}

// elements returns the XML of a checksum; nil if there is none.
func (c *checksum) elements() *checksumElements {
	if c == nil {
		return nil
	}
	return &checksumElements{sumElement(c.Algorithm, c.Value), c.Type}
}

func sumElement(algorithm, value string) namedElement {
	return namedElement{xml.Name{Local: "Checksum" + algorithm}, value}
}

// bodyCheck computes the sums of a body that its headers name, and compares them with the headers.
type bodyCheck struct {
	algorithm string
	expected  string        // checksum in Base64; empty if the client does not send it before the body
	trailer   func() string // returns the checksum sent after the body; nil if there can be none
	sum       hash.Hash
	md5       hash.Hash // nil unless the client sends Content-MD5
	wantMD5   []byte
	sha256    hash.Hash // nil unless the client signs the body's hash
	wantHash  string
	requested bool // the client chose the algorithm
}

// newBodyCheck returns the check of a request's body. Without a requested checksum, CRC64NVME is computed.
func newBodyCheck(r *http.Request) (*bodyCheck, error) {
	b := &bodyCheck{algorithm: defaultAlgorithm}
	h := r.Header
	for _, name := range algorithms {
		if value := h.Get(checksumPrefix + name); value != "" {
			if b.expected != "" {
				return nil, fail("InvalidRequest", "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.", nil)
			}
			b.algorithm, b.expected, b.requested = name, value, true
		}
	}
	if name := strings.ToUpper(h.Get("X-Amz-Sdk-Checksum-Algorithm")); name != "" && b.expected == "" {
		if checksums[name] == nil {
			return nil, fail("InvalidRequest", "Value for x-amz-sdk-checksum-algorithm header is invalid.", nil)
		}
		b.algorithm, b.requested = name, true
	}
	if name, ok := strings.CutPrefix(strings.ToLower(h.Get("X-Amz-Trailer")), strings.ToLower(checksumPrefix)); ok {
		if b.algorithm, b.requested = strings.ToUpper(name), true; checksums[b.algorithm] == nil {
			return nil, fail("InvalidRequest", "The value specified in the x-amz-trailer header is not supported", nil)
		}
		if chunked, ok := r.Body.(*chunkedBody); ok {
			b.trailer = func() string { return chunked.trailer.Get(checksumPrefix + b.algorithm) }
		}
	}
	b.sum = checksums[b.algorithm]()
	if raw, err := base64.StdEncoding.DecodeString(b.expected); b.expected != "" && (err != nil || len(raw) != b.sum.Size()) {
		return nil, b.invalid()
	}
	if text := h.Get("Content-Md5"); text != "" || len(h.Values("Content-Md5")) > 0 {
		var err error
		if b.wantMD5, err = base64.StdEncoding.DecodeString(text); err != nil || len(b.wantMD5) != md5.Size {
			return nil, fail("InvalidDigest", "The Content-MD5 you specified was invalid.", members{"Content-MD5": text})
		}
		b.md5 = md5.New()
	}
	if text := h.Get("X-Amz-Content-Sha256"); len(text) == sha256.Size*2 && h.Get("Authorization") != "" {
		b.sha256, b.wantHash = sha256.New(), text
	}
	return b, nil
}

// Write implements io.Writer.
func (b *bodyCheck) Write(p []byte) (int, error) {
	for _, h := range []hash.Hash{b.sum, b.md5, b.sha256} {
		if h != nil {
			_, _ = h.Write(p) // hashes do not fail
		}
	}
	return len(p), nil
}

func (b *bodyCheck) invalid() error {
	return fail("InvalidRequest", "Value for x-amz-checksum-"+strings.ToLower(b.algorithm)+" header is invalid.", nil)
}

// finish returns an error if a sum is not the one that the client sent.
func (b *bodyCheck) finish() error {
	if b.md5 != nil {
		if sum := b.md5.Sum(nil); string(sum) != string(b.wantMD5) {
			return fail("BadDigest", "The Content-MD5 you specified did not match what we received.",
				members{"ExpectedDigest": base64.StdEncoding.EncodeToString(b.wantMD5), "CalculatedDigest": base64.StdEncoding.EncodeToString(sum)})
		}
	}
	if b.sha256 != nil {
		if sum := hex.EncodeToString(b.sha256.Sum(nil)); sum != b.wantHash {
			return fail("XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.",
				members{"ClientComputedContentSHA256": b.wantHash, "S3ComputedContentSHA256": sum})
		}
	}
	expected := b.expected
	if expected == "" && b.trailer != nil {
		expected = b.trailer()
	}
	if expected == "" {
		return nil
	}
	if raw, err := base64.StdEncoding.DecodeString(expected); err != nil || len(raw) != b.sum.Size() {
		return b.invalid()
	}
	if expected != b.checksum().Value {
		return fail("BadDigest", "The "+b.algorithm+" you specified did not match the calculated checksum.", nil)
	}
	return nil
}

// checksum returns the checksum of the bytes written.
func (b *bodyCheck) checksum() *checksum {
	return &checksum{Algorithm: b.algorithm, Value: base64.StdEncoding.EncodeToString(b.sum.Sum(nil)), Type: fullObject}
}

// sumFile returns the checksum of a file.
func sumFile(path, algorithm string) (*checksum, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := checksums[algorithm]()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return &checksum{Algorithm: algorithm, Value: base64.StdEncoding.EncodeToString(h.Sum(nil)), Type: fullObject}, nil
}
