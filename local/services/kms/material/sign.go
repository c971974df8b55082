package material

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256" // registers the hashes of the algorithms
	_ "crypto/sha512"
	"crypto/x509"
	"errors"
	"strings"
)

// ErrDigest is returned if a digest does not have the length that the algorithm requires.
var ErrDigest = errors.New("the digest has the wrong length")

var hashes = map[string]crypto.Hash{"224": crypto.SHA224, "256": crypto.SHA256, "384": crypto.SHA384,
	"512": crypto.SHA512}

// hashOf returns the hash of an algorithm. The algorithm's name ends with the hash's size in bits.
func hashOf(algorithm string) (crypto.Hash, error) {
	h, ok := hashes[algorithm[strings.LastIndexByte(algorithm, '_')+1:]]
	if !ok {
		return 0, ErrUnsupported
	}
	return h, nil
}

// digest returns the bytes that the algorithm signs: the hash of message, or message itself if it is already a
// digest.
func digest(h crypto.Hash, message []byte, isDigest bool) ([]byte, error) {
	if isDigest {
		if len(message) != h.Size() {
			return nil, ErrDigest
		}
		return message, nil
	}
	hash := h.New()
	hash.Write(message)
	return hash.Sum(nil), nil
}

// pss returns options with a salt as long as the hash, as KMS uses.
func pss(h crypto.Hash) *rsa.PSSOptions {
	return &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: h}
}

// prehashed is the Ed25519 algorithm that signs a SHA-512 digest.
const prehashed = "ED25519_PH_SHA_512"

// Sign signs a message, or its digest if isDigest is true, with an algorithm that the key supports.
func Sign(private []byte, algorithm string, message []byte, isDigest bool) ([]byte, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	h, err := hashOf(algorithm)
	if err != nil {
		return nil, err
	}
	if k, ok := parsed.(ed25519.PrivateKey); ok && algorithm != prehashed {
		if isDigest {
			return nil, ErrDigest
		}
		return ed25519.Sign(k, message), nil
	}
	sum, err := digest(h, message, isDigest)
	if err != nil {
		return nil, err
	}
	switch k := parsed.(type) {
	case ed25519.PrivateKey:
		return k.Sign(nil, sum, &ed25519.Options{Hash: crypto.SHA512})
	case *ecdsa.PrivateKey:
		return ecdsa.SignASN1(rand.Reader, k, sum)
	case *rsa.PrivateKey:
		if strings.HasPrefix(algorithm, "RSASSA_PSS") {
			return rsa.SignPSS(rand.Reader, k, h, sum, pss(h))
		}
		return rsa.SignPKCS1v15(rand.Reader, k, h, sum)
	}
	return nil, ErrUnsupported
}

// Verify reports whether signature is the key's signature of message, or of the digest in message if isDigest is
// true.
func Verify(private []byte, algorithm string, message, signature []byte, isDigest bool) (bool, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(private)
	if err != nil {
		return false, err
	}
	h, err := hashOf(algorithm)
	if err != nil {
		return false, err
	}
	if k, ok := parsed.(ed25519.PrivateKey); ok && algorithm != prehashed {
		if isDigest {
			return false, ErrDigest
		}
		public, _ := k.Public().(ed25519.PublicKey)
		return ed25519.Verify(public, message, signature), nil
	}
	sum, err := digest(h, message, isDigest)
	if err != nil {
		return false, err
	}
	switch k := parsed.(type) {
	case ed25519.PrivateKey:
		public, _ := k.Public().(ed25519.PublicKey)
		return ed25519.VerifyWithOptions(public, sum, signature, &ed25519.Options{Hash: crypto.SHA512}) == nil, nil
	case *ecdsa.PrivateKey:
		return ecdsa.VerifyASN1(&k.PublicKey, sum, signature), nil
	case *rsa.PrivateKey:
		if strings.HasPrefix(algorithm, "RSASSA_PSS") {
			return rsa.VerifyPSS(&k.PublicKey, h, sum, signature, pss(h)) == nil, nil
		}
		return rsa.VerifyPKCS1v15(&k.PublicKey, h, sum, signature) == nil, nil
	}
	return false, ErrUnsupported
}

// MAC returns the HMAC of a message.
func MAC(secret []byte, algorithm string, message []byte) ([]byte, error) {
	h, err := hashOf(algorithm)
	if err != nil {
		return nil, err
	}
	m := hmac.New(h.New, secret)
	m.Write(message)
	return m.Sum(nil), nil
}

// Agree returns the shared secret of a private key and another party's public key, which is in SubjectPublicKeyInfo
// form.
func Agree(private, public []byte) ([]byte, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	k, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, ErrUnsupported
	}
	mine, err := k.ECDH()
	if err != nil {
		return nil, err
	}
	other, err := x509.ParsePKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	theirs, ok := other.(*ecdsa.PublicKey)
	if !ok {
		return nil, ErrUnsupported
	}
	point, err := theirs.ECDH()
	if err != nil {
		return nil, err
	}
	return mine.ECDH(point)
}
