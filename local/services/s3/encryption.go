package s3

import (
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"stepback/aws"
)

// encryptionHeaders are stored with an object and returned with it.
var encryptionHeaders = []string{encryptionHeader, kmsKeyHeader, bucketKeyHeader, kmsContextHeader}

const (
	encryptionHeader = "X-Amz-Server-Side-Encryption"
	kmsKeyHeader     = encryptionHeader + "-Aws-Kms-Key-Id"
	bucketKeyHeader  = encryptionHeader + "-Bucket-Key-Enabled"
	kmsContextHeader = encryptionHeader + "-Context"
	customerPrefix   = encryptionHeader + "-Customer-"
	sourcePrefix     = "X-Amz-Copy-Source-Server-Side-Encryption-Customer-"

	managedKeys = "AES256"
	kmsKeys     = "aws:kms"
	kmsKeysTwo  = "aws:kms:dsse"
)

// customerKey identifies the key that a client supplied to encrypt an object (SSE-C). The content is not encrypted, but
// is not given out without the key.
type customerKey struct {
	MD5  string `json:"md5"`    // Base64, as clients send it
	Hash string `json:"sha256"` // hexadecimal
}

// keyHeaders are the names of the headers that carry a customer's key.
type keyHeaders struct{ algorithm, key, sum string }

// The headers of the key of an object, and of the source of a copy.
var (
	customerHeaders = keyHeaders{customerPrefix + "Algorithm", customerPrefix + "Key", customerPrefix + "Key-Md5"}
	sourceHeaders   = keyHeaders{sourcePrefix + "Algorithm", sourcePrefix + "Key", sourcePrefix + "Key-Md5"}
)

// customerKeyOf returns the key in the named headers; nil if there is none.
func customerKeyOf(h http.Header, in *keyHeaders) (*customerKey, error) {
	algorithm, text, sum := h.Get(in.algorithm), h.Get(in.key), h.Get(in.sum)
	if algorithm == "" && text == "" && sum == "" {
		return nil, nil
	}
	const length = 32
	key, err := base64.StdEncoding.DecodeString(text)
	digest := md5.Sum(key)
	switch {
	case algorithm == "":
		return nil, invalidArgument("x-amz-server-side-encryption", "null",
			"Requests specifying Server Side Encryption with Customer provided keys must provide a valid encryption algorithm.")
	case algorithm != managedKeys:
		return nil, invalidArgument("x-amz-server-side-encryption", algorithm,
			"Requests specifying Server Side Encryption with Customer provided keys must provide a valid encryption algorithm.")
	case text == "":
		return nil, invalidArgument("x-amz-server-side-encryption", "null",
			"Requests specifying Server Side Encryption with Customer provided keys must provide an appropriate secret key.")
	case err != nil || len(key) != length:
		return nil, invalidArgument("x-amz-server-side-encryption", "null",
			"The secret key was invalid for the specified algorithm.")
	case sum == "":
		return nil, invalidArgument("x-amz-server-side-encryption", "null",
			"Requests specifying Server Side Encryption with Customer provided keys must provide the client calculated MD5 of the secret key.")
	case base64.StdEncoding.EncodeToString(digest[:]) != sum:
		return nil, invalidArgument("x-amz-server-side-encryption", "null",
			"The calculated MD5 hash of the key did not match the hash that was provided.")
	case h.Get(encryptionHeader) != "" && in == &customerHeaders:
		return nil, invalidArgument("x-amz-server-side-encryption", h.Get(encryptionHeader),
			"Server Side Encryption with Customer provided key is incompatible with the encryption method specified")
	}
	hash := sha256.Sum256(key)
	return &customerKey{sum, hex.EncodeToString(hash[:])}, nil
}

// requireKey returns an error unless the headers of a read have the key that the version is encrypted with.
func (v *version) requireKey(h http.Header, in *keyHeaders) error {
	key, err := customerKeyOf(h, in)
	switch {
	case err != nil:
		return err
	case v.CustomerKey == nil && key != nil:
		return fail("InvalidRequest", "The encryption parameters are not applicable to this object.", nil)
	case v.CustomerKey == nil:
		return nil
	case key == nil:
		return fail("InvalidRequest", "The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.", nil)
	case *key != *v.CustomerKey:
		return fail("AccessDenied", "Access Denied", nil)
	}
	return nil
}

// encrypt completes the encryption of a new object: what its headers leave open, the bucket's default decides.
func (s *store) encrypt(bucket string, d *description) error {
	algorithm, key := d.headers[encryptionHeader], d.headers[kmsKeyHeader]
	switch {
	case algorithm == "" && key != "":
		return invalidArgument("x-amz-server-side-encryption-aws-kms-key-id", key,
			"You must specify x-amz-server-side-encryption-aws-kms-key-id with an encryption type of aws:kms or aws:kms:dsse.")
	case algorithm == managedKeys && key != "":
		return invalidArgument("x-amz-server-side-encryption", algorithm,
			"Server Side Encryption with AWS KMS managed key requires HTTP header x-amz-server-side-encryption : aws:kms")
	case algorithm != "" && algorithm != managedKeys && algorithm != kmsKeys && algorithm != kmsKeysTwo:
		return invalidArgument("x-amz-server-side-encryption", algorithm, "The encryption method specified is not supported")
	case d.customerKey != nil:
		return nil
	case algorithm == "":
		all, err := s.settingsOf(bucket)
		if err != nil || all["encryption"] == "" {
			return s.storageError(err)
		}
		var in encryption
		if err := xml.Unmarshal([]byte(all["encryption"]), &in); err != nil || len(in.Rules) == 0 {
			return s.storageError(err)
		}
		rule := in.Rules[0]
		if rule.Default == nil || rule.Default.Algorithm == managedKeys {
			return nil
		}
		d.headers[encryptionHeader], d.headers[kmsKeyHeader] = rule.Default.Algorithm, rule.Default.Key
		if rule.BucketKey {
			d.headers[bucketKeyHeader] = "true"
		}
	}
	if d.headers[encryptionHeader] == managedKeys || d.headers[encryptionHeader] == "" {
		return nil
	}
	of := aws.Scope{Account: s.account, Region: s.region}
	switch key := d.headers[kmsKeyHeader]; {
	case key == "":
		d.headers[kmsKeyHeader] = of.ARN("kms", "alias/aws/s3")
	case !strings.HasPrefix(key, "arn:") && !strings.HasPrefix(key, "alias/"):
		d.headers[kmsKeyHeader] = of.ARN("kms", "key/"+key)
	}
	return nil
}

// encryption is the setting of a bucket's encryption. S3 applies its first rule.
type encryption struct {
	XMLName xml.Name         `xml:"ServerSideEncryptionConfiguration"`
	Xmlns   string           `xml:"xmlns,attr"`
	Rules   []encryptionRule `xml:"Rule"`
}

type encryptionRule struct {
	Default   *encryptionDefault `xml:"ApplyServerSideEncryptionByDefault"`
	BucketKey bool               `xml:"BucketKeyEnabled"`
	Blocked   *blockedTypes      `xml:"BlockedEncryptionTypes"`
}

type encryptionDefault struct {
	Algorithm string `xml:"SSEAlgorithm"`
	Key       string `xml:"KMSMasterKeyID,omitempty"`
}

type blockedTypes struct {
	Types []string `xml:"EncryptionType"`
}

// blockedSetting is the setting that has the encryption type that a bucket rejects: blockedCustomerKeys, or
// blockedNone. A bucket without it rejects none. On AWS, buckets created since April 2026 reject customer keys by
// default. Here they do not, as in the answers that AWS gave before, because programs in use rely on it
// (docs/services.md).
const (
	blockedSetting      = "blocked-encryption"
	blockedCustomerKeys = "SSE-C"
	blockedNone         = "NONE"
)

// checkEncryption returns an error unless text is a valid encryption. A rule blocks one type, or NONE.
func checkEncryption(_ *store, _ *call, text []byte) error {
	var in encryption
	if xml.Unmarshal(text, &in) != nil || len(in.Rules) == 0 {
		return malformedXML()
	}
	for _, r := range in.Rules {
		if r.Default != nil && !slices.Contains([]string{managedKeys, kmsKeys, kmsKeysTwo}, r.Default.Algorithm) {
			return malformedXML()
		}
		if r.Blocked == nil {
			continue
		}
		for _, t := range r.Blocked.Types {
			if t != blockedCustomerKeys && t != blockedNone || t != r.Blocked.Types[0] {
				return malformedXML()
			}
		}
	}
	return nil
}

// blockedByRule returns the type that an encryption blocks. An encryption without one leaves the bucket as it is, and
// without an encryption the bucket blocks none.
func blockedByRule(text string) (map[string]string, error) {
	if text == "" {
		return map[string]string{blockedSetting: ""}, nil
	}
	var in encryption
	if err := xml.Unmarshal([]byte(text), &in); err != nil || len(in.Rules) == 0 {
		return nil, err
	}
	if blocked := in.Rules[0].Blocked; blocked != nil && len(blocked.Types) > 0 {
		return map[string]string{blockedSetting: blocked.Types[0]}, nil
	}
	return nil, nil
}

// shownEncryption returns the encryption of a bucket with S3's defaults: its own keys and no bucket key. It has the
// blocked type if a request has set one.
func shownEncryption(all map[string]string) (string, error) {
	var out encryption
	if text := all["encryption"]; text != "" {
		if err := xml.Unmarshal([]byte(text), &out); err != nil {
			return "", err
		}
	}
	if len(out.Rules) == 0 {
		out.Rules = make([]encryptionRule, 1)
	}
	out.XMLName, out.Xmlns = xml.Name{Local: "ServerSideEncryptionConfiguration"}, namespace
	for i := range out.Rules {
		r := &out.Rules[i]
		if r.Default == nil {
			r.Default = &encryptionDefault{Algorithm: managedKeys}
		}
		if r.Blocked = nil; all[blockedSetting] != "" {
			r.Blocked = &blockedTypes{[]string{all[blockedSetting]}}
		}
	}
	text, err := xml.Marshal(out)
	return string(text), err
}

// permitCustomerKey returns an error if a write has a customer key and the bucket blocks these. S3 does so before it
// looks at the key.
func (s *store) permitCustomerKey(c *call) error {
	if c.Header.Get(customerPrefix+"Algorithm") == "" && c.Header.Get(customerPrefix+"Key") == "" &&
		c.Header.Get(customerPrefix+"Key-Md5") == "" {
		return nil
	}
	all, err := s.settingsOf(c.bucket)
	if err != nil {
		return s.storageError(err)
	}
	if all[blockedSetting] == blockedCustomerKeys {
		return fail("AccessDenied", "Access Denied", nil)
	}
	return nil
}

// showEncryption adds the headers of a version's encryption to a response.
func (s *store) showEncryption(h http.Header, v *version) {
	if v.CustomerKey != nil {
		h.Set(customerPrefix+"Algorithm", managedKeys)
		h.Set(customerPrefix+"Key-Md5", v.CustomerKey.MD5)
		return
	}
	for _, name := range encryptionHeaders {
		if value := v.Headers[name]; value != "" && name != kmsContextHeader {
			h.Set(name, value)
		}
	}
	h.Set(encryptionHeader, cmp.Or(v.Headers[encryptionHeader], managedKeys))
}
