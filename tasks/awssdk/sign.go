package awssdk

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Sign signs a request that is not sent by a client of this package. service is the name used in signatures, such
// as execute-api. The credentials are chosen as for all calls.
func (c *Caller) Sign(ctx context.Context, r *http.Request, body, service string) error {
	found, err := c.credentials(ctx, Endpoint{URL: r.URL.String()}, c.Account)
	if err != nil {
		return err
	}
	keys, err := found.Retrieve(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(body))
	return v4.NewSigner().SignHTTP(ctx, keys, r, hex.EncodeToString(sum[:]), service, c.Region, time.Now())
}

// ClusterToken returns the token that identifies the caller to the EKS cluster at an address: a presigned
// GetCallerIdentity request, which the cluster sends to AWS. It is valid for a minute.
func (c *Caller) ClusterToken(ctx context.Context, address, cluster string) (string, error) {
	found, err := c.credentials(ctx, Endpoint{URL: address}, c.Account)
	if err != nil {
		return "", err
	}
	keys, err := found.Retrieve(ctx)
	if err != nil {
		return "", err
	}
	const question = "/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://sts."+c.Region+".amazonaws.com"+question,
		http.NoBody)
	if err != nil {
		return "", err
	}
	r.Header.Set("X-K8s-Aws-Id", cluster)
	sum := sha256.Sum256(nil)
	signed, _, err := v4.NewSigner().PresignHTTP(ctx, keys, r, hex.EncodeToString(sum[:]), "sts", c.Region, time.Now())
	if err != nil {
		return "", err
	}
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(signed)), nil
}
