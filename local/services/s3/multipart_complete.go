package s3

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/johannesboyne/gofakes3"

	"stepback/internal/objectevent"
)

// CompleteMultipartUpload joins the named parts into the object. Its ETag is S3's: the MD5 of the parts' MD5s, a dash
// and the number of parts. S3's minimum part size of 5 MiB is not enforced.
func (s *store) CompleteMultipartUpload(bucket, key string, id gofakes3.UploadID,
	request *gofakes3.CompleteMultipartUploadRequest) (gofakes3.VersionID, string, error) {
	u, err := s.upload(bucket, key, id)
	if err != nil {
		return "", "", err
	}
	uploaded, err := s.parts(id)
	if err != nil {
		return "", "", s.storageError(err)
	}
	parts, err := chosenParts(uploaded, request.Parts)
	if err != nil {
		return "", "", err
	}
	b, err := s.join(u, parts)
	if err != nil {
		return "", "", err
	}
	defer b.discard()
	v, n, err := s.place(bucket, key, b, u.Headers, objectevent.CompleteMultipartUpload, nil)
	if err != nil {
		return "", "", err
	}
	s.settle(n, s.announce(bucket, key, v, objectevent.CompleteMultipartUpload))
	return gofakes3.VersionID(v.ID), quoted(v.ETag), s.storageError(s.files.RemoveAll(s.uploadDir(id)))
}

// chosenParts returns the parts that the request names, which must be in ascending order.
func chosenParts(uploaded []part, named []gofakes3.CompletedPart) ([]part, error) {
	if len(named) == 0 {
		return nil, gofakes3.ErrorMessage(gofakes3.ErrMalformedXML, "You must specify at least one part")
	}
	byNumber := make(map[int]part, len(uploaded))
	for _, p := range uploaded {
		byNumber[p.number] = p
	}
	chosen := make([]part, 0, len(named))
	for i, n := range named {
		if i > 0 && n.PartNumber <= named[i-1].PartNumber {
			return nil, gofakes3.ErrorMessage(gofakes3.ErrInvalidPartOrder,
				"The list of parts was not in ascending order. Parts must be ordered by part number.")
		}
		p, ok := byNumber[n.PartNumber]
		if !ok || p.etag != strings.Trim(n.ETag, `"`) {
			return nil, gofakes3.ErrorMessagef(gofakes3.ErrInvalidPart, "Part %d with ETag %s was not uploaded",
				n.PartNumber, n.ETag)
		}
		chosen = append(chosen, p)
	}
	return chosen, nil
}

// join concatenates the parts into a new body.
func (s *store) join(u upload, parts []part) (body, error) {
	var size int64
	sum := md5.New()
	for _, p := range parts {
		size += p.size
		raw, err := hex.DecodeString(p.etag)
		if err != nil {
			return body{}, s.storageError(err)
		}
		sum.Write(raw)
	}
	r := &partsReader{parts: parts, sum: newPartsSum(u)}
	defer r.close()
	b, err := s.receive(r, size)
	b.checksum, b.tags = r.sum.checksum(), u.Tags
	b.etag = fmt.Sprintf("%x-%d", sum.Sum(nil), len(parts))
	return b, err
}

// partsReader reads the parts in order, with only one of them open at a time. It does not compute an MD5 of the
// whole object, because the ETag is computed from the MD5s of the parts, which are already known.
type partsReader struct {
	parts []part
	open  *verifying
	sum   *partsSum
}

func (r *partsReader) Sum([]byte) []byte { return nil }

func (r *partsReader) Read(p []byte) (int, error) {
	for {
		if r.open == nil {
			if len(r.parts) == 0 {
				return 0, io.EOF
			}
			f, err := os.Open(r.parts[0].path)
			if err != nil {
				return 0, err
			}
			r.open, r.parts = verified(f, &version{Size: r.parts[0].size, ETag: r.parts[0].etag}), r.parts[1:]
		}
		n, err := r.open.Read(p)
		r.sum.write(p[:n])
		if err == io.EOF {
			r.close()
			r.sum.endPart()
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (r *partsReader) close() {
	if r.open != nil {
		_ = r.open.Close()
		r.open = nil
	}
}
