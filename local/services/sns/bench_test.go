package sns_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"stepback/aws/loopback"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/sns"
	"stepback/local/services/sqs"
)

// BenchmarkFanOut publishes durably to a topic with ten subscribed queues, from 16 concurrent clients; one iteration
// is one published message. "handler" calls the service within the process with plain requests, "http" uses the AWS
// SDK over TCP, "batch" uses the SDK with ten messages per call. "raw" subscriptions receive no envelope, "signed"
// ones do.
func BenchmarkFanOut(b *testing.B) {
	const clients, queues = 16, 10
	body := strings.Repeat("x", 200)
	start := func(b *testing.B, raw bool) (*sns.Service, string) {
		b.Helper()
		dir := b.TempDir()
		c := clock.Real()
		store, err := documents.Open(filepath.Join(dir, "documents"), nil)
		must(b, store, err)
		q, err := sqs.Open(sqs.Options{Dir: filepath.Join(dir, "sqs"), Clock: c})
		must(b, q, err)
		s, err := sns.Open(sns.Options{Dir: dir, Store: store, Clock: c, Queues: q})
		must(b, s, err)
		b.Cleanup(func() {
			for _, end := range []func() error{s.Close, q.Close, store.Close} {
				must(b, 0, end())
			}
			c.Close()
		})
		topic, err := s.CreateTopic(home, "t")
		must(b, topic, err)
		for i := range queues {
			name := fmt.Sprint("q", i)
			call(b, q.Handler(), "POST", `{"QueueName":"`+name+`"}`, "X-Amz-Target", "AmazonSQS.CreateQueue",
				"Content-Type", "application/x-amz-json-1.0", "Authorization", signature)
			form := url.Values{"Action": {"Subscribe"}, "TopicArn": {topic}, "Protocol": {"sqs"},
				"Endpoint": {"arn:aws:sqs:eu-west-1:111111111111:" + name}}
			if raw {
				form.Set("Attributes.entry.1.key", "RawMessageDelivery")
				form.Set("Attributes.entry.1.value", "true")
			}
			call(b, s.Handler(), "POST", form.Encode(), "Content-Type", "application/x-www-form-urlencoded",
				"Authorization", signature)
		}
		return s, topic
	}
	sdk := func(b *testing.B, s *sns.Service) *client.Client {
		b.Helper()
		server := httptest.NewServer(s.Handler())
		b.Cleanup(server.Close)
		transport := &http.Transport{MaxIdleConnsPerHost: clients}
		b.Cleanup(transport.CloseIdleConnections)
		return client.New(client.Options{BaseEndpoint: &server.URL, Region: "eu-west-1",
			HTTPClient:  &http.Client{Transport: transport},
			Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")})
	}
	run := func(b *testing.B, publish func(context.Context) error) {
		b.Helper()
		b.SetParallelism(clients / 2)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := publish(b.Context()); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		b.ReportMetric(queues*float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	}
	for _, raw := range []bool{true, false} {
		kind := map[bool]string{true: "raw", false: "signed"}[raw]
		b.Run(kind+"/handler", func(b *testing.B) {
			s, topic := start(b, raw)
			form := url.Values{"Action": {"Publish"}, "TopicArn": {topic}, "Message": {body}}.Encode()
			h := s.Handler()
			run(b, func(context.Context) error {
				call(b, h, "POST", form, "Content-Type", "application/x-www-form-urlencoded", "Authorization", signature) //nolint:contextcheck // a benchmark
				return nil
			})
		})
		b.Run(kind+"/http", func(b *testing.B) {
			s, topic := start(b, raw)
			c := sdk(b, s)
			run(b, func(ctx context.Context) error {
				_, err := c.Publish(ctx, &client.PublishInput{TopicArn: &topic, Message: &body})
				return err
			})
		})
		b.Run(kind+"/batch", func(b *testing.B) {
			s, topic := start(b, raw)
			c := sdk(b, s)
			b.SetParallelism(clients / 2)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for more := true; more; {
					in := &client.PublishBatchInput{TopicArn: &topic}
					for len(in.PublishBatchRequestEntries) < 10 {
						if more = pb.Next(); !more {
							break
						}
						id := fmt.Sprint(len(in.PublishBatchRequestEntries))
						in.PublishBatchRequestEntries = append(in.PublishBatchRequestEntries,
							types.PublishBatchRequestEntry{Id: &id, Message: &body})
					}
					if len(in.PublishBatchRequestEntries) == 0 {
						return
					}
					if _, err := c.PublishBatch(b.Context(), in); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(queues*float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}

const signature = "AWS4-HMAC-SHA256 Credential=111111111111/20261122/eu-west-1/sns/aws4_request, SignedHeaders=host, " +
	"Signature=0"

// call sends a request within the process.
func call(b *testing.B, h http.Handler, method, body string, headers ...string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, loopback.URL, strings.NewReader(body))
	must(b, r, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		b.Error(w.Code, w.Body)
	}
}
