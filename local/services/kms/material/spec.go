package material

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"errors"
	"fmt"
)

// ErrUnsupported is returned for key specs and algorithms that are not supported here.
var ErrUnsupported = errors.New("this kind of key is not supported")

// The key usages.
const (
	EncryptDecrypt    = "ENCRYPT_DECRYPT"
	SignVerify        = "SIGN_VERIFY"
	GenerateVerifyMAC = "GENERATE_VERIFY_MAC"
	KeyAgreement      = "KEY_AGREEMENT"
)

// Symmetric is the key spec of keys that encrypt with AES-256-GCM, and the name of that algorithm.
const Symmetric = "SYMMETRIC_DEFAULT"

// Spec describes a key spec: its usages and algorithms.
type Spec struct {
	// Usages lists the usages that a key may have. If it has only one, that is the default.
	Usages []string
	// Encryption, Signing, MAC and Agreement list the algorithms for each usage.
	Encryption, Signing, MAC, Agreement []string

	rsaBits int
	curve   elliptic.Curve
	bytes   int // the length of a secret
}

var (
	rsaEncryption = []string{"RSAES_OAEP_SHA_1", "RSAES_OAEP_SHA_256"}
	rsaSigning    = []string{"RSASSA_PKCS1_V1_5_SHA_256", "RSASSA_PKCS1_V1_5_SHA_384", "RSASSA_PKCS1_V1_5_SHA_512",
		"RSASSA_PSS_SHA_256", "RSASSA_PSS_SHA_384", "RSASSA_PSS_SHA_512"}
	ecUsages  = []string{SignVerify, KeyAgreement}
	agreement = []string{"ECDH"}
)

func rsaSpec(bits int) *Spec {
	return &Spec{Usages: []string{SignVerify, EncryptDecrypt}, Encryption: rsaEncryption, Signing: rsaSigning,
		rsaBits: bits}
}

func macSpec(bits string, bytes int) *Spec {
	return &Spec{Usages: []string{GenerateVerifyMAC}, MAC: []string{"HMAC_SHA_" + bits}, bytes: bytes}
}

var specs = map[string]*Spec{
	Symmetric:  {Usages: []string{EncryptDecrypt}, Encryption: []string{Symmetric}, bytes: 32},
	"RSA_2048": rsaSpec(2048), "RSA_3072": rsaSpec(3072), "RSA_4096": rsaSpec(4096),
	"ECC_NIST_P256":         {Usages: ecUsages, Signing: []string{"ECDSA_SHA_256"}, Agreement: agreement, curve: elliptic.P256()},
	"ECC_NIST_P384":         {Usages: ecUsages, Signing: []string{"ECDSA_SHA_384"}, Agreement: agreement, curve: elliptic.P384()},
	"ECC_NIST_P521":         {Usages: ecUsages, Signing: []string{"ECDSA_SHA_512"}, Agreement: agreement, curve: elliptic.P521()},
	"ECC_NIST_EDWARDS25519": {Usages: []string{SignVerify}, Signing: []string{"ED25519_SHA_512", "ED25519_PH_SHA_512"}},
	"HMAC_224":              macSpec("224", 28), "HMAC_256": macSpec("256", 32), "HMAC_384": macSpec("384", 48),
	"HMAC_512": macSpec("512", 64),
}

// SpecOf returns the key spec with a name, or ErrUnsupported.
func SpecOf(name string) (*Spec, error) {
	if s := specs[name]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrUnsupported, name)
}

// IsSecret reports whether the material is a secret rather than a key pair.
func (s *Spec) IsSecret() bool { return s.bytes > 0 }

// Generate generates key material: the bytes of a secret, or a private key in PKCS #8 form.
func (s *Spec) Generate() ([]byte, error) {
	var private crypto.PrivateKey
	var err error
	switch {
	case s.IsSecret():
		return Random(s.bytes), nil
	case s.rsaBits > 0:
		private, err = rsa.GenerateKey(rand.Reader, s.rsaBits)
	case s.curve != nil:
		private, err = ecdsa.GenerateKey(s.curve, rand.Reader)
	default:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(private)
}

// Accepts reports whether imported bytes are key material of the spec, in the form that Generate returns. The secret of
// an HMAC key may be longer than a generated one, up to the block size of its hash.
func (s *Spec) Accepts(imported []byte) bool {
	if s.IsSecret() {
		most := s.bytes
		switch {
		case len(s.MAC) == 0:
		case s.bytes <= sha256.Size:
			most = sha256.BlockSize
		default:
			most = sha512.BlockSize
		}
		return len(imported) >= s.bytes && len(imported) <= most
	}
	private, err := x509.ParsePKCS8PrivateKey(imported)
	if err != nil {
		return false
	}
	switch private := private.(type) {
	case *rsa.PrivateKey:
		return private.N.BitLen() == s.rsaBits
	case *ecdsa.PrivateKey:
		return private.Curve == s.curve
	case ed25519.PrivateKey:
		return s.rsaBits == 0 && s.curve == nil
	}
	return false
}

// Random returns n cryptographically random bytes.
func Random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// Public returns the public key of a private key, in SubjectPublicKeyInfo form.
func Public(private []byte) ([]byte, error) {
	k, err := x509.ParsePKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	signer, ok := k.(crypto.Signer)
	if !ok {
		return nil, ErrUnsupported
	}
	return x509.MarshalPKIXPublicKey(signer.Public())
}
