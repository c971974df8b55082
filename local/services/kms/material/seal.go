package material

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // RSAES_OAEP_SHA_1 is one of KMS's algorithms
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"hash"
	"maps"
	"slices"
)

// ErrCiphertext is returned if a ciphertext was not encrypted by the key under the given context, or has been changed
// since.
var ErrCiphertext = errors.New("it was not encrypted by this key and context")

// Seal encrypts plaintext with AES-256-GCM. about and context are authenticated but not encrypted; Open needs the
// same values.
func Seal(secret, about, plaintext []byte, context map[string]string) ([]byte, error) {
	aead, err := newAEAD(secret)
	if err != nil {
		return nil, err
	}
	nonce := Random(aead.NonceSize())
	return aead.Seal(nonce, nonce, plaintext, additional(about, context)), nil
}

// Open decrypts what Seal encrypted. It returns ErrCiphertext if that fails.
func Open(secret, about, sealed []byte, context map[string]string) ([]byte, error) {
	aead, err := newAEAD(secret)
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, ErrCiphertext
	}
	n := aead.NonceSize()
	plaintext, err := aead.Open(nil, sealed[:n], sealed[n:], additional(about, context))
	if err != nil {
		return nil, ErrCiphertext
	}
	return plaintext, nil
}

func newAEAD(secret []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// additional returns the data to authenticate. Each part is preceded by its length, so that different contexts never
// give the same data.
func additional(about []byte, context map[string]string) []byte {
	var b []byte
	add := func(part string) {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(part))), part...)
	}
	add(string(about))
	for _, name := range slices.Sorted(maps.Keys(context)) {
		add(name)
		add(context[name])
	}
	return b
}

// EncryptRSA encrypts with an RSA key; algorithm is RSAES_OAEP_SHA_1 or RSAES_OAEP_SHA_256.
func EncryptRSA(private []byte, algorithm string, plaintext []byte) ([]byte, error) {
	k, h, err := oaep(private, algorithm)
	if err != nil {
		return nil, err
	}
	return rsa.EncryptOAEP(h, rand.Reader, &k.PublicKey, plaintext, nil)
}

// MostRSA returns the maximum size of a plaintext that EncryptRSA encrypts, in bytes.
func MostRSA(private []byte, algorithm string) (int, error) {
	k, h, err := oaep(private, algorithm)
	if err != nil {
		return 0, err
	}
	return k.Size() - 2*h.Size() - 2, nil
}

// DecryptRSA decrypts what was encrypted by EncryptRSA or with the public key.
func DecryptRSA(private []byte, algorithm string, ciphertext []byte) ([]byte, error) {
	k, h, err := oaep(private, algorithm)
	if err != nil {
		return nil, err
	}
	plaintext, err := rsa.DecryptOAEP(h, nil, k, ciphertext, nil)
	if err != nil {
		return nil, ErrCiphertext
	}
	return plaintext, nil
}

func oaep(private []byte, algorithm string) (*rsa.PrivateKey, hash.Hash, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	k, ok := parsed.(*rsa.PrivateKey)
	switch {
	case !ok:
		return nil, nil, ErrUnsupported
	case algorithm == "RSAES_OAEP_SHA_1":
		return k, sha1.New(), nil
	case algorithm == "RSAES_OAEP_SHA_256":
		return k, sha256.New(), nil
	}
	return nil, nil, ErrUnsupported
}
