package events_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	sqsclient "github.com/aws/aws-sdk-go-v2/service/sqs"

	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/events"
	"stepback/local/services/sqs"
)

// BenchmarkPutEventsToQueue puts events with 16 concurrent clients, over HTTP with the AWS SDK. Each event matches
// one of ten rules, whose target is a queue, and is durably in the queue when PutEvents responds. An iteration is one
// event; "one" puts one event per call, "ten" puts ten.
func BenchmarkPutEventsToQueue(b *testing.B) {
	const clients = 16
	for name, entries := range map[string]int{"one": 1, "ten": 10} {
		b.Run(name, func(b *testing.B) {
			c := clock.Real()
			queues, err := sqs.Open(sqs.Options{Dir: b.TempDir(), Clock: c})
			if err != nil {
				b.Fatal(err)
			}
			store, err := documents.Open(b.TempDir(), nil)
			if err != nil {
				b.Fatal(err)
			}
			targets := &delivery.Targets{}
			targets.Register("sqs", queues)
			service, err := events.Open(events.Options{Store: store, Clock: c, Targets: targets})
			if err != nil {
				b.Fatal(err)
			}
			server, queueServer := httptest.NewServer(service.Handler()), httptest.NewServer(queues.Handler())
			transport := &http.Transport{MaxIdleConnsPerHost: clients}
			b.Cleanup(func() {
				transport.CloseIdleConnections()
				server.Close()
				queueServer.Close()
				for _, closes := range []func() error{service.Close, queues.Close, store.Close} {
					if err := closes(); err != nil {
						b.Error(err)
					}
				}
				c.Close()
			})
			keys := credentials.NewStaticCredentialsProvider("000000000000", "secret", "")
			q := sqsclient.New(sqsclient.Options{BaseEndpoint: &queueServer.URL, Region: "us-east-1", Credentials: keys})
			if _, err := q.CreateQueue(b.Context(), &sqsclient.CreateQueueInput{QueueName: sdkaws.String("q")}); err != nil {
				b.Fatal(err)
			}
			e := client.New(client.Options{BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: keys,
				HTTPClient: &http.Client{Transport: transport}})
			for _, source := range strings.Split("abcdefghij", "") {
				if _, err := e.PutRule(b.Context(), &client.PutRuleInput{Name: &source,
					EventPattern: sdkaws.String(`{"source":["` + source + `"],"detail":{"n":[{"numeric":[">=",0]}]}}`)}); err != nil {
					b.Fatal(err)
				}
				if _, err := e.PutTargets(b.Context(), &client.PutTargetsInput{Rule: &source, Targets: []types.Target{
					{Id: sdkaws.String("q"), Arn: sdkaws.String("arn:aws:sqs:us-east-1:000000000000:q")}}}); err != nil {
					b.Fatal(err)
				}
			}
			detail := `{"n":1,"text":"` + strings.Repeat("x", 200) + `"}`
			in := &client.PutEventsInput{}
			for range entries {
				in.Entries = append(in.Entries, types.PutEventsRequestEntry{Source: sdkaws.String("f"),
					DetailType: sdkaws.String("made"), Detail: &detail})
			}
			calls := make(chan struct{}, b.N/entries+1)
			for range b.N/entries + 1 {
				calls <- struct{}{}
			}
			close(calls)
			b.ResetTimer()
			done := make(chan error, clients)
			for range clients {
				go func() {
					for range calls {
						if out, err := e.PutEvents(b.Context(), in); err != nil || out.FailedEntryCount > 0 {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			for range clients {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
