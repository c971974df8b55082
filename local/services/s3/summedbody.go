package s3

import (
	"encoding/base64"
	"hash"
	"io"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// sumHeader names the summedBody of an upload among those of the store: gofakes3 hands on headers, and wraps bodies.
const sumHeader = internalPrefix + "Sum"

// summedBody computes the checksum of a body while it is read, and ends with an error when it is not the one that the
// client expects.
type summedBody struct {
	io.ReadCloser
	id        string
	algorithm string
	expected  string        // Base64; empty when the client does not say before the body
	trailer   func() string // what it says behind the body; nil when it cannot
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

// checksum is that of what has been read.
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

// checksumOf is the checksum of a body that has been received, nil when the client asked for none.
func (s *store) checksumOf(meta map[string]string) *checksum {
	if b, ok := s.sums.Load(meta[sumHeader]); ok {
		return b.(*summedBody).checksum()
	}
	return nil
}
