package s3

import (
	"encoding/base64"
	"hash"
	"io"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// sumHeader identifies the summedBody of an upload in the store. A header is used because gofakes3 passes on
// headers, but wraps bodies.
const sumHeader = internalPrefix + "Sum"

// summedBody computes the checksum of a body while it is read. At the end it returns an error if the checksum is
// not the one that the client expects.
type summedBody struct {
	io.ReadCloser
	id        string
	algorithm string
	expected  string        // Base64; empty if the client does not send it before the body
	trailer   func() string // returns the checksum sent after the body; nil if there can be none
	sum       hash.Hash
}

func (b *summedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.sum.Write(p[:n])
	if err == io.EOF {
		if wrong := b.check(); wrong != nil {
			return n, wrong
		}
	}
	return n, err
}

// checksum returns the checksum of the bytes read.
func (b *summedBody) checksum() *checksum {
	return &checksum{Algorithm: b.algorithm, Value: base64.StdEncoding.EncodeToString(b.sum.Sum(nil)), Type: fullObject}
}

func (b *summedBody) check() error {
	expected := b.expected
	if expected == "" && b.trailer != nil {
		expected = b.trailer()
	}
	if expected == "" {
		return nil
	}
	if raw, err := base64.StdEncoding.DecodeString(expected); err != nil || len(raw) != b.sum.Size() {
		return gofakes3.ErrorMessagef(errInvalidRequest, "Value for x-amz-checksum-%s header is invalid.",
			strings.ToLower(b.algorithm))
	}
	if expected != b.checksum().Value {
		return gofakes3.ErrorMessagef(gofakes3.ErrBadDigest,
			"The %s you specified did not match the calculated checksum.", b.algorithm)
	}
	return nil
}

// checksumOf returns the checksum of a received body, or nil if the client requested none.
func (s *store) checksumOf(meta map[string]string) *checksum {
	if b, ok := s.sums.Load(meta[sumHeader]); ok {
		return b.(*summedBody).checksum()
	}
	return nil
}
