package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// BenchmarkPutItem measures the cost of a call: writing, signing and passing on the request, and reading the
// response. There is no network.
func BenchmarkPutItem(b *testing.B) {
	s := model.MustFind("dynamodb")
	o, err := s.Operation("PutItem")
	if err != nil {
		b.Fatal(err)
	}
	in, err := jsonvalue.Parse(`{"TableName":"Orders","Item":{"id":{"S":"o-4711"},"state":{"S":"paid"},` +
		`"total":{"N":"129.90"},"lines":{"L":[{"M":{"sku":{"S":"a-1"},"count":{"N":"2"}}},` +
		`{"M":{"sku":{"S":"b-2"},"count":{"N":"1"}}}]}},"ReturnValues":"ALL_OLD"}`)
	if err != nil {
		b.Fatal(err)
	}
	const answer = `{"Attributes":{"id":{"S":"o-4711"},"state":{"S":"open"},"total":{"N":"129.90"}}}`
	c := &client.Client{
		Endpoint: "http://dynamodb.test", Region: "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		HTTP: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{},
				Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer))}, nil
		})},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Call(b.Context(), &client.Request{Service: s, Operation: o, Input: in}); err != nil {
			b.Fatal(err)
		}
	}
}
