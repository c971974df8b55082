package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of a signed request, as Standard Webhooks (https://www.standardwebhooks.com) names them.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// Tolerance is how old or how far ahead a signed request may be.
const Tolerance = 5 * time.Minute

// secretPrefix marks secrets that are in base64, as Standard Webhooks writes them.
const secretPrefix = "whsec_"

// Secret is a key for signatures. Its text never shows up in a log.
type Secret struct{ key []byte }

// NewSecret makes a secret of its text: whsec_ and base64, or any other text of 24 bytes or more, taken as it is.
func NewSecret(text string) (Secret, error) {
	key := []byte(text)
	if coded, ok := strings.CutPrefix(text, secretPrefix); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(coded); err != nil {
			return Secret{}, errors.New("the webhook's secret begins with whsec_, and what follows is not base64")
		}
	}
	if len(key) < 24 {
		return Secret{}, fmt.Errorf("the webhook's secret has %d bytes; 24 is the least", len(key))
	}
	return Secret{key}, nil
}

// String hides the secret.
func (Secret) String() string { return "…" }

// sign is the signature of a request.
func (s Secret) sign(id, timestamp string, payload []byte) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(payload)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// ErrSignature says that a request was not signed with any of the secrets, or is too old or too far ahead.
var ErrSignature = errors.New("the webhook's signature is not valid")

// Verify is the receiver's side: it checks a request's signature and time. Several secrets may hold while they are
// exchanged. The ID of the message is the header Webhook-Id: a receiver that has seen it before does nothing and
// answers 200.
func Verify(header http.Header, payload []byte, now time.Time, secrets ...Secret) error {
	id, timestamp := header.Get(HeaderID), header.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" {
		return fmt.Errorf("%w: %s or %s is missing", ErrSignature, HeaderID, HeaderTimestamp)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return fmt.Errorf("%w: it was signed %s ago", ErrSignature, age.Round(time.Second))
	}
	for _, given := range strings.Fields(header.Get(HeaderSignature)) {
		for _, s := range secrets {
			if hmac.Equal([]byte(given), []byte(s.sign(id, timestamp, payload))) {
				return nil
			}
		}
	}
	return ErrSignature
}
