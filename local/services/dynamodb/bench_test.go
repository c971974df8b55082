package dynamodb_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"stepback/aws/loopback"
	"stepback/engine/clock"
	"stepback/local/services/dynamodb"
)

// BenchmarkPutItem puts an item in each iteration, durably, with 16 concurrent clients. "handler" calls the service
// in the same process by plain requests, as tasks do; "http" is the AWS SDK over TCP.
func BenchmarkPutItem(b *testing.B) {
	const clients = 16
	start := func(b *testing.B) (*dynamodb.Service, *client.Client) {
		b.Helper()
		c := clock.Real()
		s, err := dynamodb.Open(dynamodb.Options{Dir: b.TempDir() + "/dynamodb", Clock: c})
		if err != nil {
			b.Fatal(err)
		}
		server := httptest.NewServer(s.Handler())
		transport := &http.Transport{MaxIdleConnsPerHost: clients}
		b.Cleanup(func() {
			transport.CloseIdleConnections()
			server.Close()
			if err := s.Close(); err != nil {
				b.Error(err)
			}
			c.Close()
		})
		sdk := client.New(client.Options{BaseEndpoint: &server.URL, Region: "us-east-1",
			HTTPClient:  &http.Client{Transport: transport},
			Credentials: credentials.NewStaticCredentialsProvider("000000000000", "secret", "")})
		name := "things"
		if _, err := sdk.CreateTable(b.Context(), &client.CreateTableInput{TableName: &name, BillingMode: "PAY_PER_REQUEST",
			AttributeDefinitions: attributes("pk:S", "sk:N"), KeySchema: keys("pk", "sk")}); err != nil {
			b.Fatal(err)
		}
		return s, sdk
	}
	body := strings.Repeat("x", 200)
	var next atomic.Int64
	b.Run("handler", func(b *testing.B) {
		service, _ := start(b)
		h := loopback.Client(service.Handler())
		b.SetParallelism(clients / 2)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				i := next.Add(1)
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, loopback.URL,
					strings.NewReader(fmt.Sprintf(
						`{"TableName":"things","Item":{"pk":{"S":"p%d"},"sk":{"N":"%d"},"body":{"S":%q}}}`, i%1000, i, body)))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
				r.Header.Set("Content-Type", "application/x-amz-json-1.0")
				a, err := h.Do(r)
				if err != nil || a.StatusCode != http.StatusOK {
					b.Fatal(a, err)
				}
				a.Body.Close()
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
	})
	b.Run("http", func(b *testing.B) {
		_, sdk := start(b)
		name := "things"
		b.SetParallelism(clients / 2)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				i := int(next.Add(1))
				if _, err := sdk.PutItem(b.Context(), &client.PutItemInput{TableName: &name,
					Item: with(id(fmt.Sprint("p", i%1000), i), attrs{"body": s(body)})}); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
	})
}
