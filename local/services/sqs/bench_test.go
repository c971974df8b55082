package sqs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"stepback/aws/loopback"
	"stepback/engine/clock"
	"stepback/local/services/sqs"
)

// BenchmarkSendReceiveDelete sends, receives and deletes one message per iteration, durably, from 16 concurrent
// clients. "handler" calls the service within the process with plain requests, as tasks do; "http" uses the AWS SDK
// over TCP; "batch" uses the SDK with ten messages per call, each of which is an iteration.
func BenchmarkSendReceiveDelete(b *testing.B) {
	const clients = 16
	start := func(b *testing.B) (*sqs.Service, *client.Client) {
		b.Helper()
		c := clock.Real()
		s, err := sqs.Open(sqs.Options{Dir: b.TempDir(), Clock: c})
		if err != nil {
			b.Fatal(err)
		}
		server := httptest.NewServer(s.Handler())
		b.Cleanup(func() {
			server.Close()
			if err := s.Close(); err != nil {
				b.Error(err)
			}
			c.Close()
		})
		transport := &http.Transport{MaxIdleConnsPerHost: clients}
		b.Cleanup(transport.CloseIdleConnections)
		return s, client.New(client.Options{BaseEndpoint: &server.URL, Region: "us-east-1",
			HTTPClient:  &http.Client{Transport: transport},
			Credentials: credentials.NewStaticCredentialsProvider("000000000000", "secret", "")})
	}
	create := func(b *testing.B, c *client.Client) *string {
		b.Helper()
		out, err := c.CreateQueue(b.Context(), &client.CreateQueueInput{QueueName: sdkaws.String("q")})
		if err != nil {
			b.Fatal(err)
		}
		return out.QueueUrl
	}
	body := strings.Repeat("x", 200)
	b.Run("handler", func(b *testing.B) {
		s, c := start(b)
		url := *create(b, c)
		h := loopback.Client(s.Handler())
		call := func(operation, input string) string {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, loopback.URL, strings.NewReader(input))
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			a, err := h.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			defer a.Body.Close()
			text := new(strings.Builder)
			if err := a.Write(text); err != nil || a.StatusCode != http.StatusOK {
				b.Error(a.Status, text)
			}
			return text.String()
		}
		b.SetParallelism(clients / 2)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				call("SendMessage", fmt.Sprintf(`{"QueueUrl":%q,"MessageBody":%q}`, url, body))
				_, rest, _ := strings.Cut(call("ReceiveMessage", fmt.Sprintf(`{"QueueUrl":%q}`, url)), `"ReceiptHandle":"`)
				handle, _, _ := strings.Cut(rest, `"`)
				call("DeleteMessage", fmt.Sprintf(`{"QueueUrl":%q,"ReceiptHandle":%q}`, url, handle))
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	})
	b.Run("http", func(b *testing.B) {
		_, c := start(b)
		url := create(b, c)
		b.SetParallelism(clients / 2)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := c.SendMessage(b.Context(), &client.SendMessageInput{QueueUrl: url,
					MessageBody: &body}); err != nil {
					b.Error(err)
				}
				out, err := c.ReceiveMessage(b.Context(), &client.ReceiveMessageInput{QueueUrl: url})
				if err != nil || len(out.Messages) != 1 {
					b.Error(out, err)
					continue
				}
				if _, err := c.DeleteMessage(b.Context(), &client.DeleteMessageInput{QueueUrl: url,
					ReceiptHandle: out.Messages[0].ReceiptHandle}); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	})
	b.Run("batch", func(b *testing.B) {
		_, c := start(b)
		url := create(b, c)
		b.SetParallelism(clients / 2)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for more := true; more; {
				n := 0
				for ; n < 10 && more; n++ {
					more = pb.Next()
				}
				in := &client.SendMessageBatchInput{QueueUrl: url}
				for i := range n {
					in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
						Id: sdkaws.String(fmt.Sprint(i)), MessageBody: &body})
				}
				if _, err := c.SendMessageBatch(b.Context(), in); err != nil {
					b.Error(err)
				}
				out, err := c.ReceiveMessage(b.Context(), &client.ReceiveMessageInput{QueueUrl: url,
					MaxNumberOfMessages: 10})
				if err != nil {
					b.Error(err)
					continue
				}
				gone := &client.DeleteMessageBatchInput{QueueUrl: url}
				for i, m := range out.Messages {
					gone.Entries = append(gone.Entries, types.DeleteMessageBatchRequestEntry{
						Id: sdkaws.String(fmt.Sprint(i)), ReceiptHandle: m.ReceiptHandle})
				}
				if len(gone.Entries) == 0 {
					continue
				}
				if _, err := c.DeleteMessageBatch(b.Context(), gone); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	})
}
