package dynamodb_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"
)

// ask sends a request by hand, and returns the status, the encoding and the uncompressed body of the response.
func (b *bench) ask(operation, body string, headers map[string]string) (status int, encoding, text string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.servers[0].URL, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=111111111111/20261122/eu-west-1/dynamodb/aws4_request, Signature=0")
	r.Header.Set("Accept-Encoding", "identity")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer out.Body.Close()
	var from io.Reader = out.Body
	switch encoding = out.Header.Get("Content-Encoding"); encoding {
	case "gzip":
		from, err = gzip.NewReader(out.Body)
	case "deflate":
		from, err = zlib.NewReader(out.Body)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	all, err := io.ReadAll(from)
	if err != nil {
		b.t.Fatal(err)
	}
	return out.StatusCode, encoding, string(all)
}

// TestLongHeaders sends headers below and above the limit.
func TestLongHeaders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	const body = `{"TableName":"things"}`
	size := func(n int) int {
		status, _, text := b.ask("DescribeTable", body, map[string]string{"X-Filler": strings.Repeat("x", n)})
		if status == http.StatusBadRequest && text != "" {
			t.Errorf("a body: %s", text)
		}
		return status
	}
	if got := size(15 << 10); got != http.StatusOK {
		t.Errorf("15 KiB: %d", got)
	}
	if got := size(16 << 10); got != http.StatusBadRequest {
		t.Errorf("over 16 KiB: %d", got)
	}
}

// TestCompressedBodies sends compressed requests, and asks for compressed responses.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	long := strings.Repeat("x", 5000)
	put := `{"TableName":"things","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"` + long + `"}}}`
	var zipped, deflated bytes.Buffer
	z, d := gzip.NewWriter(&zipped), zlib.NewWriter(&deflated)
	for _, w := range []io.WriteCloser{z, d} {
		if _, err := io.WriteString(w, put); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for encoding, body := range map[string]string{"gzip": zipped.String(), "deflate": deflated.String()} {
		headers := map[string]string{"Content-Encoding": encoding}
		if status, _, text := b.ask("PutItem", body, headers); status != http.StatusOK || text != "{}" {
			t.Errorf("%s: %d %s", encoding, status, text)
		}
		if status, _, _ := b.ask("PutItem", put, headers); status != http.StatusInternalServerError {
			t.Errorf("%s that is none: %d", encoding, status)
		}
		if status, _, _ := b.ask("PutItem", body[:len(body)-1], headers); status != http.StatusInternalServerError {
			t.Errorf("%s that is cut off: %d", encoding, status)
		}
	}
	if status, _, _ := b.ask("PutItem", put, map[string]string{"Content-Encoding": "garbage"}); status != http.StatusInternalServerError {
		t.Errorf("an unknown encoding: %d", status)
	}
	get := `{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}}`
	for accepted, want := range map[string]string{"gzip": "gzip", "deflate;q=0.9, gzip;q=0.5": "deflate", "identity": ""} {
		headers := map[string]string{"Accept-Encoding": accepted}
		if status, encoding, text := b.ask("GetItem", get+"}", headers); status != http.StatusOK || encoding != want || !strings.Contains(text, long) {
			t.Errorf("%s: %d %q", accepted, status, encoding)
		}
		if _, encoding, text := b.ask("GetItem", get+`,"ProjectionExpression":"sk"}`, headers); encoding != "" || text != `{"Item":{"sk":{"N":"1"}}}` {
			t.Errorf("%s, small: %q %s", accepted, encoding, text)
		}
	}
}

// Malformed binary values are no valid requests, and operations without a result have no body.
func TestBodiesByHand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	for operation, body := range map[string]string{
		"PutItem": `{"TableName":"things","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"x":{"B":"YWJjZGVmZ2g"}}}`,
		"Scan":    `{"TableName":"things","FilterExpression":"x > :v","ExpressionAttributeValues":{":v":{"B":"ZmVmZQ=!"}}}`,
	} {
		if status, _, text := b.ask(operation, body, nil); status != http.StatusBadRequest || !strings.Contains(text, "SerializationException") {
			t.Errorf("%s: %d %s", operation, status, text)
		}
	}
	status, _, text := b.ask("TagResource", `{"ResourceArn":"arn:aws:dynamodb:eu-west-1:111111111111:table/things",`+
		`"Tags":[{"Key":"k","Value":"v"}]}`, nil)
	if status != http.StatusOK || text != "" {
		t.Errorf("TagResource: %d %q", status, text)
	}
}

// TestTypesOfErrors checks the namespaces of errors: the service's, and those of the framework in front of it.
func TestTypesOfErrors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, want := range map[string]string{
		`{"TableName":"nothing"}`: `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",`,
		`{"TableName":"x"}`:       `{"__type":"com.amazon.coral.validate#ValidationException",`,
		`{"TableName":`:           `{"__type":"com.amazon.coral.service#SerializationException"}`,
		`{"TableName":3}`:         `{"__type":"com.amazon.coral.service#SerializationException",`,
	} {
		if status, _, text := b.ask("DescribeTable", body, nil); status != http.StatusBadRequest || !strings.HasPrefix(text, want) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}
