package client

import (
	"context"

	"stepback/aws/rangedbody"
	"stepback/jsonvalue"
)

// resumable lets the body of a response continue after its connection breaks, if it is the body of an S3 object.
func (c *Client) resumable(ctx context.Context, r *Request, a *Response) {
	if r.Service.ID != "S3" || r.Operation.Name != "GetObject" || a.Body == nil {
		return
	}
	if part, _ := r.Input.Get("PartNumber"); !part.IsNull() {
		return // it excludes a Range
	}
	a.Body = rangedbody.New(ctx, partOf(a), func(ctx context.Context, byteRange, etag string) (*rangedbody.Part,
		error) {
		rest := *r
		rest.Input = r.Input.With("Range", jsonvalue.OfString(byteRange)).With("IfMatch", jsonvalue.OfString(etag))
		a, err := c.once(ctx, &rest)
		if err != nil {
			return nil, err
		}
		return partOf(a), nil
	})
}

func partOf(a *Response) *rangedbody.Part {
	etag, _ := a.Output.Get("ETag")
	length, _ := a.Output.Get("ContentLength")
	span, _ := a.Output.Get("ContentRange")
	p := &rangedbody.Part{Body: a.Body, Size: -1, ETag: etag.Text(), ContentRange: span.Text()}
	if n, ok := length.Int(); ok {
		p.Size = n
	}
	return p
}
