package s3

import (
	"cmp"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"strings"

	"stepback/internal/objectevent"
)

// smallestPart is the minimum size of all parts but the last, in bytes.
const smallestPart = 5 << 20

// completeRequest is the body of CompleteMultipartUpload.
type completeRequest struct {
	XMLName xml.Name    `xml:"CompleteMultipartUpload"`
	Parts   []namedPart `xml:"Part"`
}

// namedPart is a part that a completion names.
type namedPart struct {
	PartNumber        int
	ETag              string
	ChecksumCRC32     string
	ChecksumCRC32C    string
	ChecksumCRC64NVME string
	ChecksumSHA1      string
	ChecksumSHA256    string
}

// sum returns the checksum in an algorithm.
func (p *namedPart) sum(algorithm string) string {
	return map[string]string{"CRC32": p.ChecksumCRC32, "CRC32C": p.ChecksumCRC32C, "CRC64NVME": p.ChecksumCRC64NVME,
		"SHA1": p.ChecksumSHA1, "SHA256": p.ChecksumSHA256}[algorithm]
}

// completedUpload is the response of CompleteMultipartUpload.
type completedUpload struct {
	XMLName  xml.Name `xml:"CompleteMultipartUploadResult"`
	Xmlns    string   `xml:"xmlns,attr"`
	Location string
	Bucket   string
	Key      string
	ETag     string
	*checksumElements
}

// completeMultipartUpload joins the named parts into the object. Its ETag is S3's: the MD5 of the parts' MD5s, a dash
// and the number of parts. A completion that is repeated gets the same answer.
func (s *store) completeMultipartUpload(c *call) (any, error) {
	var in completeRequest
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if len(in.Parts) == 0 {
		return nil, fail("MalformedXML", "You must specify at least one part", nil)
	}
	id := c.query.Get("uploadId")
	u, err := s.upload(c.bucket, c.key, id)
	if isCode(err, "NoSuchUpload") {
		if v, found := s.completed(c.bucket, c.key, id); found {
			return s.completion(c, &v), nil
		}
	}
	if err != nil {
		return nil, err
	}
	if u.CustomerKey != nil && (u.Algorithm != "" || c.Header.Get(customerPrefix+"Key") != "") {
		// API_CompleteMultipartUpload: "required only when the object was created using a checksum algorithm"
		if err := u.requireKey(c); err != nil {
			return nil, err
		}
	}
	conditions, err := putConditions(c)
	if err != nil {
		return nil, err
	}
	if conditions != nil { // before the parts are joined, and again when the object is replaced
		current, err := s.current(c.bucket, c.key)
		if err == nil {
			err = conditions(current)
		}
		if err != nil {
			return nil, s.storageError(err)
		}
	}
	b, err := s.joined(c, &u, in.Parts)
	if err != nil {
		return nil, err
	}
	defer b.discard()
	v, n, err := s.place(c.bucket, c.key, &b, objectevent.CompleteMultipartUpload, conditions)
	if err != nil {
		return nil, err
	}
	s.settle(n, s.announce(c.bucket, c.key, v, objectevent.CompleteMultipartUpload))
	return s.completion(c, &v), s.storageError(s.files.RemoveAll(s.uploadDir(id)))
}

// completion returns the response of a completed upload.
func (s *store) completion(c *call, v *version) completedUpload {
	c.showVersion(v)
	s.showEncryption(c.header, v)
	s.showExpiration(c, v)
	return completedUpload{
		Xmlns:            namespace,
		Location:         "http://" + c.Host + "/" + c.bucket + "/" + encodeKey(c.key),
		Bucket:           c.bucket,
		Key:              c.key,
		ETag:             quoted(v.ETag),
		checksumElements: v.Checksum.elements(),
	}
}

// completed returns the version of an object that an upload has made.
func (s *store) completed(bucket, key, id string) (version, bool) {
	v, err := s.current(bucket, key)
	if err == nil && v != nil && v.Upload == id && id != "" {
		return *v, true
	}
	h, err := s.readShelf(bucket, key)
	if err != nil {
		return version{}, false
	}
	for _, e := range h.Entries {
		if e.Upload == id && id != "" {
			return e.version, true
		}
	}
	return version{}, false
}

// joined joins the parts that a completion names, and compares the object with what the request expects of it.
func (s *store) joined(c *call, u *upload, named []namedPart) (body, error) {
	uploaded, err := s.parts(u.ID)
	if err != nil {
		return body{}, s.storageError(err)
	}
	parts, err := u.chosen(uploaded, named)
	if err != nil {
		return body{}, err
	}
	b, err := s.join(u, parts)
	if err != nil {
		return body{}, err
	}
	err = cmp.Or(u.expected(c, &b), u.requireSums(named))
	if err != nil {
		b.discard()
	}
	return b, err
}

// expected returns an error unless a joined object has the size and checksum that the request's headers name.
func (u *upload) expected(c *call, b *body) error {
	if text := c.Header.Get("X-Amz-Mp-Object-Size"); text != "" && text != strconv.FormatInt(b.size, 10) {
		return fail(
			"InvalidRequest",
			"The provided 'x-amz-mp-object-size' header value "+text+" does not match what was computed: "+
				strconv.FormatInt(b.size, 10),
			nil,
		)
	}
	if kind := strings.ToUpper(c.Header.Get(checksumPrefix + "Type")); kind != "" && kind != u.checksumType() {
		return fail(
			"InvalidRequest",
			"The upload was created using the "+u.checksumType()+" checksum mode. The complete request must use the same checksum mode.",
			nil,
		)
	}
	for _, name := range algorithms {
		sum := c.Header.Get(checksumPrefix + name)
		if sum == "" {
			continue
		}
		if b.checksum == nil || b.checksum.Algorithm != name {
			return checksumMismatch(u.Algorithm, name)
		}
		if want, _, _ := strings.Cut(b.checksum.Value, "-"); sum != b.checksum.Value && sum != want {
			return fail("BadDigest", "The "+name+" you specified did not match the calculated checksum.", nil)
		}
	}
	return nil
}

// requireSums returns an error if a completion lacks the checksum of a part that a composite checksum needs, as AWS
// does.
func (u *upload) requireSums(named []namedPart) error {
	if u.Algorithm == "" || u.checksumType() != composite {
		return nil
	}
	for _, n := range named {
		if n.sum(u.Algorithm) == "" {
			return fail("InvalidRequest", fmt.Sprintf("The upload was created using a %s checksum. The complete request must "+
				"include the checksum for each part. It was missing for part %d in the request.", strings.ToLower(u.Algorithm),
				n.PartNumber), nil)
		}
	}
	return nil
}

// checksumMismatch returns the error for a checksum in another algorithm than the upload's. Empty stands for none.
func checksumMismatch(expected, actual string) error {
	return fail("InvalidRequest", "Checksum Type mismatch occurred, expected checksum Type: "+
		cmp.Or(strings.ToLower(expected), "null")+", actual checksum Type: "+cmp.Or(strings.ToLower(actual), "null"), nil)
}

// chosen returns the parts that a completion names, which must be in ascending order.
func (u *upload) chosen(uploaded []part, named []namedPart) ([]part, error) {
	byNumber := make(map[int]part, len(uploaded))
	for _, p := range uploaded {
		byNumber[p.number] = p
	}
	chosen := make([]part, 0, len(named))
	for i, n := range named {
		if i > 0 && n.PartNumber <= named[i-1].PartNumber {
			return nil, fail(
				"InvalidPartOrder",
				"The list of parts was not in ascending order. Parts must be ordered by part number.",
				members{"UploadId": u.ID},
			)
		}
		p, ok := byNumber[n.PartNumber]
		sum := n.sum(u.Algorithm)
		if !ok || p.etag != strings.Trim(n.ETag, `"`) || sum != "" && p.sum != "" && sum != p.sum {
			return nil, fail(
				"InvalidPart",
				"One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
				members{"UploadId": u.ID, "PartNumber": n.PartNumber, "ETag": strings.Trim(n.ETag, `"`)},
			)
		}
		chosen = append(chosen, p)
	}
	for _, p := range chosen[:len(chosen)-1] {
		if p.size < smallestPart {
			return nil, fail("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size",
				members{"ProposedSize": p.size, "MinSizeAllowed": smallestPart, "PartNumber": p.number, "ETag": p.etag})
		}
	}
	return chosen, nil
}

// join concatenates the parts into a new body.
func (s *store) join(u *upload, parts []part) (body, error) {
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
	b, err := s.receive(r, size, nil)
	if err != nil {
		return body{}, err
	}
	b.checksum, b.description, b.upload = r.sum.checksum(), u.description(), u.ID
	b.etag = fmt.Sprintf("%x-%d", sum.Sum(nil), len(parts))
	for i, p := range parts {
		stored := storedPart{Number: p.number, Size: p.size}
		switch {
		case u.Algorithm == "":
		case u.checksumType() == composite:
			stored.Checksum = r.sum.ofParts[i]
		default:
			stored.Checksum = p.sum
		}
		b.parts = append(b.parts, stored)
	}
	return b, nil
}

// partsReader reads the parts in order, with only one of them open at a time.
type partsReader struct {
	parts []part
	open  *verifying
	sum   *partsSum
}

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

// partsSum computes the checksum of an object joined from parts: over all bytes, or over the checksums of the parts.
type partsSum struct {
	algorithm, kind string
	bytes           hash.Hash // hash over the object's bytes, or over those of the current part
	sums            hash.Hash // hash over the checksums of the parts
	ofParts         []string  // checksums of the parts, in Base64, if they are needed
}

// newPartsSum returns a partsSum for an upload. One that was started without a checksum gets S3's default.
func newPartsSum(u *upload) *partsSum {
	algorithm := cmp.Or(u.Algorithm, defaultAlgorithm)
	return &partsSum{algorithm: algorithm, kind: u.checksumType(), bytes: checksums[algorithm](),
		sums: checksums[algorithm]()}
}

// checksumType returns the type that the upload requested, or S3's default for the algorithm.
func (u *upload) checksumType() string {
	if u.Algorithm == "" || u.Algorithm == defaultAlgorithm {
		return fullObject
	}
	return cmp.Or(strings.ToUpper(u.ChecksumType), composite)
}

func (s *partsSum) write(p []byte) { s.bytes.Write(p) }

// endPart marks the end of the current part; call it after the last byte of each part. For a composite checksum, it
// adds the part's own checksum.
func (s *partsSum) endPart() {
	if s.kind == composite {
		sum := s.bytes.Sum(nil)
		s.ofParts = append(s.ofParts, base64.StdEncoding.EncodeToString(sum))
		s.sums.Write(sum)
		s.bytes.Reset()
	}
}

// checksum returns the checksum of the joined object.
func (s *partsSum) checksum() *checksum {
	c := &checksum{Algorithm: s.algorithm, Type: s.kind}
	if s.kind == composite {
		c.Value = base64.StdEncoding.EncodeToString(s.sums.Sum(nil)) + "-" + strconv.Itoa(len(s.ofParts))
	} else {
		c.Value = base64.StdEncoding.EncodeToString(s.bytes.Sum(nil))
	}
	return c
}

// hexSum returns a checksum in hexadecimal, as the names of parts contain it.
func hexSum(c *checksum) (string, error) {
	if c == nil {
		return "", io.EOF
	}
	raw, err := base64.StdEncoding.DecodeString(c.Value)
	return hex.EncodeToString(raw), err
}

// base64Sum reverses hexSum.
func base64Sum(text string) string {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return ""
	}
	return base64.StdEncoding.EncodeToString(raw)
}
