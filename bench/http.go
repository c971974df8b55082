package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"stepback/aws"
	"stepback/engine"
	"stepback/local/services/stepfunctions"
)

const (
	httpClients = 16
	httpStarts  = 20_000
	onePass     = `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}` //nolint:gosec // a definition, not a password
)

// starts measures StartExecution over HTTP, which responds once the start is durable. The floor is a bare Go server
// that appends one synced record, in groups as they arrive, and echoes the request.
func starts() measurement {
	return measurement{
		name: "StartExecution over HTTP, 16 clients, durable", unit: "/s", target: "≥ 0.4 × the durable echo",
		measure: func(ctx context.Context, dir string) (reading, error) {
			return besideFloor(func() (float64, error) {
				return echo(ctx, filepath.Join(dir, "floor"))
			}, func() (float64, error) {
				rate, _, err := startAll(ctx, dir, httpClients, httpStarts)
				return rate, err
			})
		},
	}
}

// oneState measures how long a one-state execution takes from the request to its durable end, as a percentile. One
// client sends one request after the other.
func oneState(percentile int) measurement {
	const n = 2000
	return measurement{
		name: fmt.Sprintf("one-state execution over HTTP, request to end, p%d", percentile), unit: "ms",
		target: "for scale",
		measure: func(ctx context.Context, dir string) (reading, error) {
			_, took, err := startAll(ctx, dir, 1, n)
			if err != nil {
				return reading{}, err
			}
			slices.Sort(took)
			return reading{value: float64(took[n*percentile/100].Microseconds()) / 1000}, nil
		},
	}
}

// startAll starts executions through the API and returns how long each took from the request to its end.
func startAll(ctx context.Context, dir string, goroutines, n int) (perSecond float64, took []time.Duration, err error) {
	b, err := open(dir, nil, answer)
	if err != nil {
		return 0, nil, err
	}
	defer b.Close()
	service := stepfunctions.New(stepfunctions.Config{
		Open:  func(aws.Scope) (*engine.Engine, error) { return b.Engine, nil },
		Store: stepfunctions.NewMemory(), Now: b.clock.Now, Default: aws.Scope{Account: "000000000000",
			Region: "us-east-1"},
	})
	server := httptest.NewServer(service.Handler())
	defer server.Close()
	c := newCaller(server.URL, goroutines)
	const arn = "arn:aws:states:us-east-1:000000000000:"
	err = c.post(ctx, "CreateStateMachine",
		fmt.Sprintf(`{"name":"m","definition":%q,"roleArn":"arn:aws:iam::000000000000:role/r"}`, onePass))
	if err != nil {
		return 0, nil, err
	}
	took = make([]time.Duration, n)
	perSecond, err = clients(goroutines, n, func(_, i int) error {
		began := time.Now()
		body := fmt.Sprintf(`{"stateMachineArn":"%sstateMachine:m","name":"e%d","input":"{\"n\":1}"}`, arn, i)
		if err := c.post(ctx, "StartExecution", body); err != nil {
			return err
		}
		if goroutines == 1 {
			<-b.Ended(fmt.Sprintf("%sexecution:m:e%d", arn, i))
		}
		took[i-1] = time.Since(began)
		return nil
	})
	return perSecond, took, err
}

// caller is an HTTP client that keeps its connections.
type caller struct {
	client http.Client
	url    string
}

func newCaller(url string, connections int) *caller {
	return &caller{http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}, url}
}

func (c *caller) post(ctx context.Context, operation, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	answer, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return err
}

// echo measures the floor of StartExecution.
func echo(ctx context.Context, dir string) (perSecond float64, err error) {
	db, err := pebble.Open(dir, &pebble.Options{Logger: silent{}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var mu sync.Mutex
	next := uint64(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			mu.Lock()
			next++
			key := fmt.Appendf(nil, "%016d", next)
			mu.Unlock()
			err = db.Set(key, body, pebble.Sync) // Pebble groups waiting writers
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(body) // the client notices missing data
	}))
	defer server.Close()
	c := newCaller(server.URL, httpClients)
	return clients(httpClients, httpStarts, func(_, i int) error {
		return c.post(ctx, "Echo", fmt.Sprintf(`{"stateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:m","name":"e%d","input":"{\"n\":1}"}`, i))
	})
}

// silent discards Pebble's own messages.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
