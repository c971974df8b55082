package httptask

import (
	"context"
	"net/http"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// removedHeaders lists the headers that a task cannot set: hop-by-hop headers, and those that would make the response
// partial or conditional.
var removedHeaders = []string{
	"Connection", "Content-Length", "Expect", "Host", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range",
	"If-Unmodified-Since", "Keep-Alive", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// request returns the HTTP request for a description.
func (d *description) request(ctx context.Context, region string) (*http.Request, error) {
	address := *d.endpoint
	query := address.Query()
	for name, values := range d.query {
		query[name] = append(query[name], values...)
	}
	address.RawQuery = query.Encode()
	body, kind := d.content()
	r, err := http.NewRequestWithContext(ctx, d.method, address.String(), strings.NewReader(body))
	if err != nil {
		return nil, socketError(err)
	}
	if !d.hasBody {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	r.Header = d.header.Clone()
	for _, name := range removedHeaders {
		r.Header.Del(name)
	}
	if r.Header.Get("Content-Type") == "" && d.hasBody {
		r.Header.Set("Content-Type", kind)
	}
	r.Header.Set("User-Agent", "Amazon|StepFunctions|HttpInvoke|"+region)
	r.Header.Set("Range", "bytes=0-"+jsonvalue.OfInt(engine.MaxPayload).Text())
	return r, nil
}

// content returns the body and its content type.
func (d *description) content() (body, kind string) {
	switch {
	case !d.hasBody:
		return "", ""
	case d.encoding == encodeURL && d.body.Kind() == jsonvalue.Object:
		return formEncoded(d.body, d.arrays), "application/x-www-form-urlencoded"
	case d.body.Kind() == jsonvalue.String:
		return d.body.Text(), "text/plain"
	default:
		return d.body.JSON(), "application/json"
	}
}
