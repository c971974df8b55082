package s3

import (
	"cmp"
	"encoding/base64"
	"hash"
	"strconv"
	"strings"
)

// partsSum computes the checksum of an object joined from parts: over all bytes, or over the checksums of the parts.
type partsSum struct {
	algorithm, kind string
	bytes           hash.Hash // hash over the object's bytes, or over those of the current part
	sums            hash.Hash // hash over the checksums of the parts
	parts           int
}

// newPartsSum returns a partsSum for an upload, or nil if the upload was started without a checksum.
func newPartsSum(u upload) *partsSum {
	if checksums[u.Algorithm] == nil {
		return nil
	}
	return &partsSum{algorithm: u.Algorithm, kind: u.checksumType(), bytes: checksums[u.Algorithm](),
		sums: checksums[u.Algorithm]()}
}

// checksumType returns the type that the upload requested, or S3's default for the algorithm.
func (u upload) checksumType() string {
	if u.Algorithm == "CRC64NVME" {
		return fullObject
	}
	return cmp.Or(strings.ToUpper(u.ChecksumType), composite)
}

func (s *partsSum) write(p []byte) {
	if s != nil {
		s.bytes.Write(p)
	}
}

// endPart marks the end of the current part; call it after the last byte of each part. For a composite checksum, it
// adds the part's own checksum.
func (s *partsSum) endPart() {
	if s == nil {
		return
	}
	s.parts++
	if s.kind == composite {
		s.sums.Write(s.bytes.Sum(nil))
		s.bytes.Reset()
	}
}

// checksum returns the checksum of the joined object.
func (s *partsSum) checksum() *checksum {
	if s == nil {
		return nil
	}
	c := &checksum{Algorithm: s.algorithm, Type: s.kind}
	if s.kind == composite {
		c.Value = base64.StdEncoding.EncodeToString(s.sums.Sum(nil)) + "-" + strconv.Itoa(s.parts)
	} else {
		c.Value = base64.StdEncoding.EncodeToString(s.bytes.Sum(nil))
	}
	return c
}
