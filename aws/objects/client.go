package objects

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// Client implements Store with S3's model.
type Client struct {
	caller  *client.Client
	retryer aws.Retryer
}

var _ Store = (*Client)(nil)

// service returns S3's model. It is loaded by the first call, not by New: many programs create a client and call
// nothing.
func service() *model.Service { return model.MustFind("s3") }

// New returns a client that makes its calls through caller. The retryer decides about further attempts; if it is
// nil, the client makes only one attempt.
func New(caller *client.Client, retryer aws.Retryer) *Client {
	if retryer == nil {
		retryer = aws.NopRetryer{}
	}
	return &Client{caller, retryer}
}

// Local returns a client of a server on this machine. It ignores the environment, so it never uses a developer's
// AWS profile or a proxy.
func Local(endpoint, region string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConnsPerHost = 64
	return New(&client.Client{
		Endpoint: endpoint, Region: region, HTTP: &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}, nil)
}

// Get implements Store.
func (c *Client) Get(ctx context.Context, in Get) (*Object, error) {
	answer, err := c.call(ctx, "GetObject", in.document(), nil)
	if err != nil {
		return nil, err
	}
	o := objectOf(answer)
	o.Body = answer.Body
	if o.Body == nil {
		o.Body = http.NoBody
	}
	return o, nil
}

// Head implements Store.
func (c *Client) Head(ctx context.Context, in Get) (*Object, error) {
	answer, err := c.call(ctx, "HeadObject", in.document(), nil)
	if err != nil {
		return nil, err
	}
	return objectOf(answer), nil
}

// Put implements Store.
func (c *Client) Put(ctx context.Context, in Put) error {
	d := fields("Bucket", in.Bucket, "Key", in.Key, "ContentType", in.ContentType, "IfMatch", in.IfMatch,
		"IfNoneMatch", in.IfNoneMatch).With("ContentLength", jsonvalue.OfInt(in.Size))
	_, err := c.call(ctx, "PutObject", d, in.Body)
	return err
}

// Copy implements Store.
func (c *Client) Copy(ctx context.Context, in Copy) (string, error) {
	source := CopySource(in.FromBucket, in.FromKey)
	if in.FromVersionID != "" {
		source += "?versionId=" + url.QueryEscape(in.FromVersionID)
	}
	d := fields("Bucket", in.Bucket, "Key", in.Key, "CopySource", source, "CopySourceIfMatch", in.IfMatch)
	if in.ContentType != "" {
		d = d.With("MetadataDirective", jsonvalue.OfString("REPLACE")).
			With("ContentType", jsonvalue.OfString(in.ContentType))
	}
	if in.WithoutTags {
		d = d.With("TaggingDirective", jsonvalue.OfString("REPLACE"))
	}
	answer, err := c.call(ctx, "CopyObject", d, nil)
	if err != nil {
		return "", err
	}
	result, _ := answer.Output.Get("CopyObjectResult")
	return text(result, "ETag"), nil
}

// CopySource returns the value of the header x-amz-copy-source. It consists of bucket and key, URL-encoded except
// for the slashes.
func CopySource(bucket, key string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(bucket + "/" + key))
}

// Delete implements Store.
func (c *Client) Delete(ctx context.Context, bucket, key string) error {
	_, err := c.call(ctx, "DeleteObject", fields("Bucket", bucket, "Key", key), nil)
	return err
}

// List implements Store.
func (c *Client) List(ctx context.Context, in List) (*Page, error) {
	answer, err := c.call(ctx, "ListObjectsV2",
		fields("Bucket", in.Bucket, "Prefix", in.Prefix, "ContinuationToken", in.Token, "EncodingType", URLEncoding), nil)
	if err != nil {
		return nil, err
	}
	contents, _ := answer.Output.Get("Contents")
	page := &Page{Objects: make([]Listed, contents.Len())}
	for i := range page.Objects {
		o := contents.At(i)
		key, err := DecodedKey(text(o, "Key"), text(answer.Output, "EncodingType"))
		if err != nil {
			return nil, err
		}
		page.Objects[i] = Listed{Key: key, ETag: text(o, "ETag"), StorageClass: text(o, "StorageClass"),
			Size: number(o, "Size", 0), LastModified: moment(o, "LastModified")}
	}
	if more, _ := answer.Output.Get("IsTruncated"); more.Bool() {
		page.Next = text(answer.Output, "NextContinuationToken")
	}
	return page, nil
}

func (c *Client) call(
	ctx context.Context, operation string, in jsonvalue.Value, body io.ReadSeeker,
) (*client.Response, error) {
	o, err := service().Operation(operation)
	if err == nil {
		var start int64
		if body != nil {
			start, err = body.Seek(0, io.SeekCurrent)
		}
		var answer *client.Response
		if err == nil {
			answer, err = client.Retry(ctx, c.retryer, func() (*client.Response, error) {
				if body != nil {
					if _, err := body.Seek(start, io.SeekStart); err != nil {
						return nil, err
					}
				}
				return c.caller.Call(ctx, &client.Request{Service: service(), Operation: o, Input: in, Body: body})
			})
		}
		if err == nil {
			return answer, nil
		}
	}
	return nil, &smithy.OperationError{ServiceID: service().ID, OperationName: operation, Err: err}
}

func (g Get) document() jsonvalue.Value {
	return fields("Bucket", g.Bucket, "Key", g.Key, "VersionId", g.VersionID, "ExpectedBucketOwner", g.Owner,
		"IfMatch", g.IfMatch, "Range", g.Range)
}

// fields returns an object with the given pairs of name and text. Pairs with an empty text are left out.
func fields(pairs ...string) jsonvalue.Value {
	b := jsonvalue.NewObject(len(pairs) / 2)
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			b.Set(pair[0], jsonvalue.OfString(pair[1]))
		}
	}
	return b.Value()
}

func objectOf(answer *client.Response) *Object {
	out := answer.Output
	return &Object{Size: number(out, "ContentLength", -1), ETag: text(out, "ETag"), ContentType: text(out, "ContentType"),
		ContentRange: text(out, "ContentRange"), VersionID: text(out, "VersionId")}
}

func text(v jsonvalue.Value, member string) string {
	m, _ := v.Get(member)
	return m.Text()
}

func number(v jsonvalue.Value, member string, otherwise int64) int64 {
	m, _ := v.Get(member)
	if n, ok := m.Int(); ok {
		return n
	}
	return otherwise
}

func moment(v jsonvalue.Value, member string) time.Time {
	m, there := v.Get(member)
	if !there {
		return time.Time{}
	}
	t, err := model.TimeOf(m)
	if err != nil {
		return time.Time{}
	}
	return t
}
