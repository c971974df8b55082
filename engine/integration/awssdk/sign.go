package awssdk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Sign signs a request that is not made by a client, for a service as signatures name it, such as execute-api. Its credentials are chosen
// as those of all calls.
func (c *Caller) Sign(ctx context.Context, r *http.Request, body, service string) error {
	cfg, err := c.config(ctx, Endpoint{URL: r.URL.String()}, c.Account)
	if err != nil {
		return err
	}
	keys, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(body))
	return v4.NewSigner().SignHTTP(ctx, keys, r, hex.EncodeToString(sum[:]), service, c.Region, time.Now())
}
