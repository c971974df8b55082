package client

import (
	"crypto/md5"
	"crypto/sha1" //nolint:gosec // one of the checksums of S3, which says nothing of secrecy
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strings"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/aws/model"
)

// nvme is the polynomial of CRC64NVME, its bits reversed.
const nvme = 0x9a6c9329ac4bc9b5

// algorithms maps the checksums that requests may have, by their names in inputs.
var algorithms = map[string]func() hash.Hash{
	"CRC32":     func() hash.Hash { return crc32.NewIEEE() },
	"CRC32C":    func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"CRC64NVME": func() hash.Hash { return crc64.New(crc64.MakeTable(nvme)) },
	"SHA1":      sha1.New,
	"SHA256":    sha256.New,
	"SHA512":    sha512.New,
	"MD5":       md5.New,
}

// sums adds the checksum of the body to the headers, if the operation has one. It returns the body's hash for the
// signature.
func (x *exchange) sums(r *smithyhttp.Request) (string, error) {
	c := x.Operation.Checksum
	if c == nil || hasChecksum(r.Header) {
		return hashed(r, nil)
	}
	if c.Algorithm == nil {
		return summed(r, md5.New(), "Content-Md5")
	}
	chosen, _ := x.Input.Get(c.Algorithm.Name)
	name := chosen.Text()
	if name == "" {
		name = "CRC32"
		r.Header.Set("X-Amz-Sdk-Checksum-Algorithm", name)
	}
	make, ok := algorithms[strings.ToUpper(name)]
	if !ok {
		return "", &model.ValueError{Path: c.Algorithm.Name, Why: "the checksum " + name + " cannot be computed here"}
	}
	return summed(r, make(), "X-Amz-Checksum-"+name)
}

// hasChecksum reports whether the parameters already contain a checksum.
func hasChecksum(h http.Header) bool {
	if h.Get("Content-Md5") != "" {
		return true
	}
	for name := range h {
		if strings.HasPrefix(name, "X-Amz-Checksum-") && name != "X-Amz-Checksum-Type" &&
			name != "X-Amz-Checksum-Mode" &&
			name != "X-Amz-Checksum-Algorithm" {
			return true
		}
	}
	return false
}

func summed(r *smithyhttp.Request, sum hash.Hash, header string) (string, error) {
	hash, err := hashed(r, sum)
	if err != nil {
		return "", err
	}
	r.Header.Set(header, base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	return hash, nil
}
