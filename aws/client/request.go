package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

const (
	// gzipFrom is the size in bytes from which a body is compressed, as in the SDKs.
	gzipFrom = 10_240
	// emptyHash is the hash of an empty body.
	emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// filled returns the input with missing idempotency tokens added. It removes query parameters for which the input
// has separate members.
func (x *exchange) filled() jsonvalue.Value {
	v := x.Input
	if x.Operation.Input == nil {
		return v
	}
	for _, m := range x.Operation.Input.Members {
		given, _ := v.Get(m.Name)
		switch {
		case m.IdempotencyToken && given.IsNull():
			v = v.With(m.Name, jsonvalue.OfString(x.token()))
		case m.Location == model.InQuery && given.Kind() == jsonvalue.Object:
			v = v.With(m.Name, x.withoutBoundQuery(given))
		}
	}
	return v
}

// withoutBoundQuery removes the query parameters that other members of the input already provide.
func (x *exchange) withoutBoundQuery(query jsonvalue.Value) jsonvalue.Value {
	named := map[string]bool{}
	for _, m := range x.Operation.Input.Members {
		if given, _ := x.Input.Get(m.Name); m.Location == model.InQuery && !given.IsNull() {
			named[m.LocationName] = true
		}
	}
	b := jsonvalue.NewObject(query.Len())
	for i, key := range query.Keys() {
		if !named[key] {
			b.Set(key, query.At(i))
		}
	}
	return b.Value()
}

func (c *Client) token() string {
	if c.Token != nil {
		return c.Token()
	}
	return aws.NewID()
}

// request returns the request of a call, signed and ready to be sent.
func (x *exchange) request(ctx context.Context) (*http.Request, error) {
	written, err := x.write(ctx)
	if err != nil {
		return nil, err
	}
	if err := x.compress(written); err != nil {
		return nil, err
	}
	sums, err := x.sums(written)
	if err != nil {
		return nil, err
	}
	if err := x.locate(written.URL); err != nil {
		return nil, err
	}
	request := written.Build(ctx)
	request.Host = written.URL.Host
	if x.Operation.Output.Streamed() != nil {
		request.Header.Set("Accept-Encoding", "identity") // else net/http would decompress the stream
	}
	if request.Body == nil {
		request.Body = http.NoBody
	}
	if x.Operation.Unsigned {
		return request, nil
	}
	return request, x.sign(ctx, request, sums)
}

// compress compresses the body if the model allows it.
func (x *exchange) compress(r *smithyhttp.Request) error {
	least := x.GzipFrom
	if least == 0 {
		least = gzipFrom
	}
	if n, known, _ := r.StreamLength(); !x.Operation.Gzip || !known || n < int64(least) {
		return nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, r.GetStream()); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	packed, err := r.SetStream(bytes.NewReader(b.Bytes()))
	if err != nil {
		return err
	}
	*r = *packed
	encodings := "gzip"
	if before := r.Header.Get("Content-Encoding"); before != "" {
		encodings = before + ", gzip"
	}
	r.Header.Set("Content-Encoding", encodings)
	return nil
}

// address parses the endpoint. bucket is the bucket to add to the host; empty if none.
func (c *Client) address(r *Request) (u *url.URL, bucket string, err error) {
	const label = "{Bucket}"
	address := c.Endpoint
	inHost := strings.Contains(address, label)
	if r.Service.ID == "S3" {
		v, _ := r.Input.Get("Bucket")
		bucket = v.Text()
	}
	switch {
	case inHost && bucket != "":
		if !hostable(bucket) {
			return nil, "", &model.ValueError{Path: "Bucket", Why: "the bucket " + bucket +
				" cannot be part of a host's name"}
		}
		address = strings.Replace(address, label, bucket, 1)
	case inHost:
		address = strings.Replace(address, label+".", "", 1)
	}
	u, err = url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, "", fmt.Errorf("the endpoint %q is no URL such as http://127.0.0.1:4566", c.Endpoint)
	}
	if inHost {
		return u, bucket, nil
	}
	if bucket == "" || !IsAWS(u.Hostname()) || !hostable(bucket) || strings.Contains(bucket, ".") {
		return u, "", nil
	}
	u.Host = bucket + "." + u.Host
	return u, bucket, nil
}

// hostable reports whether a bucket's name can be part of a host name.
func hostable(bucket string) bool {
	const shortest, longest = 3, 63
	if len(bucket) < shortest || len(bucket) > longest {
		return false
	}
	for _, c := range bucket {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return bucket[0] != '-' && bucket[0] != '.' && !strings.Contains(bucket, "..")
}

// locate completes the URL of a request: it sets the endpoint's scheme and host, adds the endpoint's path and
// query, and prepends the operation's host prefix to the host.
func (x *exchange) locate(u *url.URL) error {
	path, raw := u.Path, u.RawPath
	if x.bucket != "" {
		path, raw = strings.TrimPrefix(path, "/"+x.bucket), strings.TrimPrefix(raw, "/"+x.bucket)
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u.Scheme, u.Host = x.endpoint.Scheme, x.endpoint.Host
	u.Path, u.RawPath = path, raw
	if base := strings.TrimSuffix(x.endpoint.Path, "/"); base != "" {
		u.Path = base + path
		if raw != "" {
			u.RawPath = strings.TrimSuffix(x.endpoint.EscapedPath(), "/") + raw
		}
	}
	if x.endpoint.RawQuery != "" {
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+x.endpoint.RawQuery, "&")
	}
	if x.Operation.HostPrefix == "" || !x.aws && !x.HostPrefix {
		return nil
	}
	prefix, err := x.hostPrefix()
	u.Host = prefix + u.Host
	return err
}

// hostPrefix returns the operation's host prefix with its labels filled in.
func (x *exchange) hostPrefix() (string, error) {
	prefix := x.Operation.HostPrefix
	if x.Operation.Input == nil {
		return prefix, nil
	}
	for _, m := range x.Operation.Input.Members {
		if !m.HostLabel {
			continue
		}
		v, _ := x.Input.Get(m.Name)
		if !label(v.Text()) {
			return "", &model.ValueError{Path: m.Name, Why: fmt.Sprintf("%q cannot be part of a host's name", v.Text())}
		}
		prefix = strings.ReplaceAll(prefix, "{"+m.Name+"}", v.Text())
	}
	return prefix, nil
}

func label(s string) bool {
	const longest = 63
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= longest
}

// sign signs a request; hash is the hash of its body.
func (x *exchange) sign(ctx context.Context, r *http.Request, hash string) error {
	if x.Service.SignatureVersion == "bearer" {
		return &UnsupportedError{x.Service.Name, x.Operation.Name,
			"is signed with a bearer token, which tasks have not"}
	}
	if x.Credentials == nil {
		return errors.New("no credentials to sign the request with")
	}
	keys, err := x.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("no credentials to sign the request with: %w", err)
	}
	isS3 := strings.HasPrefix(x.Service.SignatureVersion, "s3")
	if x.Operation.UnsignedBody {
		hash = "UNSIGNED-PAYLOAD"
	}
	if isS3 || x.Operation.UnsignedBody || x.Service.Name == "glacier" {
		r.Header.Set("X-Amz-Content-Sha256", hash)
	}
	if trace, ok := aws.TraceOf(ctx); ok {
		r.Header.Set(aws.TraceHeader, trace.String()) // excluded from the signature
	}
	now := time.Now
	if x.Now != nil {
		now = x.Now
	}
	return signer.SignHTTP(ctx, keys, r, hash, x.Service.SigningName, x.region(), now(), func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = isS3
	})
}

// region returns the region for the signature.
func (x *exchange) region() string {
	if !x.aws {
		return x.Region
	}
	return RegionOf(x.endpoint.Hostname(), x.Region)
}

// hashed reads a body to its end and returns its hash. It writes a copy of the body to also.
func hashed(r *smithyhttp.Request, also io.Writer) (string, error) {
	stream := r.GetStream()
	if stream == nil {
		return emptyHash, nil
	}
	sum := sha256.New()
	var into io.Writer = sum
	if also != nil {
		into = io.MultiWriter(sum, also)
	}
	if _, err := io.Copy(into, stream); err != nil {
		return "", fmt.Errorf("the body cannot be read: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), r.RewindStream()
}
