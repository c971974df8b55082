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

// Headers of a signed request, as named by Standard Webhooks (https://www.standardwebhooks.com).
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// Tolerance is the maximum difference between the time of a signed request and now, in the past or the future.
const Tolerance = 5 * time.Minute

// secretPrefix marks secrets that are in base64, as Standard Webhooks writes them.
const secretPrefix = "whsec_"

// Secret is a key for signatures. Its text never appears in a log.
type Secret struct{ key []byte }

// NewSecret returns the secret for a text: whsec_ and base64, or any other text of at least 24 bytes, used unchanged.
func NewSecret(text string) (Secret, error) {
	key := []byte(text)
	if coded, ok := strings.CutPrefix(text, secretPrefix); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(coded); err != nil {
			return Secret{}, errors.New("the webhook's secret begins with whsec_, but the rest is not base64")
		}
	}
	if len(key) < 24 {
		return Secret{}, fmt.Errorf("the webhook's secret has %d bytes; the minimum is 24", len(key))
	}
	return Secret{key}, nil
}

// String hides the secret.
func (Secret) String() string { return "…" }

// sign returns the signature of a request.
func (s Secret) sign(id, timestamp string, payload []byte) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(payload)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// ErrSignature is returned if a request was not signed with any of the secrets, or is too old or too far ahead.
var ErrSignature = errors.New("the webhook's signature is not valid")

// Verify checks a request's signature and time; the receiver calls it. During a rotation, pass several secrets. The
// header Webhook-Id contains the message's ID; a receiver that has seen the ID before should do nothing and respond
// with 200.
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
