package intrinsic

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"stepback/asl/jsonvalue"
)

// maxEncoded is the number of characters that the Base64 functions and States.Hash accept.
const maxEncoded = 10_000

func checkLength(s string) error {
	if n := jsonvalue.LenUTF16(s); n > maxEncoded {
		return fmt.Errorf("the string has %d characters, more than %d", n, maxEncoded)
	}
	return nil
}

// base64Encode is States.Base64Encode(string).
func base64Encode(o *operands) (jsonvalue.Value, error) {
	s := o.values[0].Text()
	if err := checkLength(s); err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.OfString(base64.StdEncoding.EncodeToString([]byte(s))), nil
}

// base64Decode is States.Base64Decode(string). Like the real service it skips characters that are not Base64, does not insist
// on padding and stops at it; bytes that are not UTF-8 become U+FFFD.
func base64Decode(o *operands) (jsonvalue.Value, error) {
	s := o.values[0].Text()
	if err := checkLength(s); err != nil {
		return jsonvalue.Value{}, err
	}
	s, _, _ = strings.Cut(s, "=")
	s = strings.Map(base64Digit, s)
	if len(s)%4 == 1 {
		s = s[:len(s)-1] // six bits make no byte
	}
	decoded, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return jsonvalue.Value{}, fmt.Errorf("the string is not Base64: %w", err)
	}
	return jsonvalue.OfString(strings.ToValidUTF8(string(decoded), "\uFFFD")), nil
}

// base64Digit maps the digits of both alphabets to the standard one and drops every other character.
func base64Digit(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '+' || r == '/':
		return r
	case r == '-':
		return '+'
	case r == '_':
		return '/'
	default:
		return -1
	}
}

var algorithms = map[string]func() hash.Hash{
	"MD5": md5.New, "SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

// hashOf is States.Hash(data, algorithm): lower-case hexadecimal. Data that is not a string is hashed as its JSON text.
func hashOf(o *operands) (jsonvalue.Value, error) {
	data := o.values[0].Text()
	if o.values[0].Kind() != jsonvalue.String {
		data = o.values[0].JSON()
	}
	if err := checkLength(data); err != nil {
		return jsonvalue.Value{}, err
	}
	algorithm, ok := algorithms[o.values[1].Text()]
	if !ok {
		return jsonvalue.Value{}, fmt.Errorf("the algorithm must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512, but is '%s'", o.values[1].Text())
	}
	h := algorithm()
	h.Write([]byte(data))
	return jsonvalue.OfString(hex.EncodeToString(h.Sum(nil))), nil
}
