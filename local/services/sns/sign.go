package sns

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // SignatureVersion 1 is SHA-1
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"

	"stepback/local/services/documents"
)

// certificatePath is the prefix of the paths of certificates, as on AWS.
const certificatePath = "/SimpleNotificationService-"

// The signature versions.
const (
	signedSHA1   = "1"
	signedSHA256 = "2"
)

// signer signs messages with a key that is kept in the store permanently. The key is generated when the first message
// is signed.
type signer struct {
	store *documents.Store
	table *documents.Table

	mu          sync.Mutex
	key         *rsa.PrivateKey
	certificate []byte // PEM
	name        string // of the certificate file
}

// bits is the length of the key. AWS uses 2048, which makes signing take three times as long, and signing is most
// of the cost of a message. A shorter key suffices, because it only vouches for messages on this machine.
const bits = 1024

// sign signs a text and returns the signature in base64.
func (s *signer) sign(version string, text []byte, now time.Time) (string, error) {
	key, err := s.open(now)
	if err != nil {
		return "", err
	}
	hash, sum := crypto.SHA1, sumOf(sha1.Sum(text))
	if version == signedSHA256 {
		wide := sha256.Sum256(text)
		hash, sum = crypto.SHA256, wide[:]
	}
	signature, err := rsa.SignPKCS1v15(nil, key, hash, sum)
	return base64.StdEncoding.EncodeToString(signature), err
}

func sumOf(sum [sha1.Size]byte) []byte { return sum[:] }

// url returns the URL of the certificate. Call it only after something has been signed.
func (s *signer) url(endpoint string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return endpoint + s.name
}

// open returns the key, which it loads or generates if needed.
func (s *signer) open(now time.Time) (*rsa.PrivateKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	text, found, err := s.table.Get(keySigning)
	if err != nil {
		return nil, err
	}
	if !found {
		if text, err = makeSigning(now); err != nil {
			return nil, err
		}
		b, err := s.store.Begin()
		if err != nil {
			return nil, err
		}
		b.Put(s.table, keySigning, text)
		if err := b.Apply()(); err != nil {
			return nil, err
		}
	}
	return s.key, s.use(text)
}

// use sets the key and the certificate from two PEM blocks.
func (s *signer) use(text []byte) error {
	block, rest := pem.Decode(text)
	if block == nil || len(rest) == 0 {
		return errors.New("the key that messages are signed with is damaged")
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(rest)
	s.key, s.certificate = key, rest
	s.name = certificatePath + hex.EncodeToString(sum[:16]) + ".pem"
	return nil
}

// makeSigning generates a key and its certificate, and returns both as PEM.
func makeSigning(now time.Time) ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, err
	}
	const life = 20 * 365 * 24 * time.Hour
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sns.amazonaws.com"},
		DNSNames:  []string{"sns.amazonaws.com"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(life), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	made := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return append(made, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...), nil
}

// serve responds to a request for the certificate.
func (s *signer) serve(w http.ResponseWriter, r *http.Request, now time.Time) {
	if _, err := s.open(now); err != nil {
		http.Error(w, "the certificate cannot be read", http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path != s.name {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-pem-file")
	_, _ = io.Copy(w, strings.NewReader(string(s.certificate))) // the client may have disconnected
}
