package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"stepback/aws/loopback"
	"stepback/console"
	"stepback/engine/journal"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// Console says what the console at the platform's address shows and lets people do.
type Console struct {
	// Off serves no console.
	Off bool
	// ReadOnly serves one without actions.
	ReadOnly bool
	// Redact are members of payloads that it never shows; see console.Config.
	Redact []string
	// Rooms are where dead letters are. Whoever opened them closes them.
	Rooms []console.Room
	// Who is recorded with what is done to dead letters.
	Who string
}

// console makes the console of the platform; nil when there is none.
func (p *Platform) console() http.Handler {
	if p.cfg.Console.Off {
		return nil
	}
	c := p.cfg.Console
	return console.New(console.Config{
		Engine: func() (console.Engine, error) { return p.Engine() },
		Definition: func(ctx context.Context, x *journal.Execution) (*journal.Definition, error) {
			return journal.DefinitionOf(ctx, p.Journal, x)
		},
		Call: caller{
			"states": {p.offeredBy("states"), "AWSStepFunctions.", "application/x-amz-json-1.0"},
			"logs":   {p.offeredBy("logs"), "Logs_20140328.", "application/x-amz-json-1.1"},
		}.call,
		Changes: p.changes.watch,
		Points:  p.points,
		Rooms:   c.Rooms, Who: c.Who, ReadOnly: c.ReadOnly, Redact: c.Redact, Region: p.Scope.Region,
		Version: p.cfg.Version, Now: p.Clock.Now, Log: p.cfg.Log,
		Services: p.shown(),
	})
}

// points are the metric data that are kept and those that are being counted.
func (p *Platform) points() ([]retrymetrics.Point, error) {
	kept, err := metricsfile.Read(p.Dir)
	if err != nil {
		return nil, err
	}
	return retrymetrics.Merge(append(kept, p.metrics.Points()...)), nil
}

// caller carries out operations of services in this process.
type caller map[string]struct {
	handler     http.Handler
	target      string
	contentType string
}

// serviceError is the refusal of a service, as its JSON has it.
type serviceError struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// Error implements error.
func (e *serviceError) Error() string { return fmt.Sprintf("%s: %s", e.Type, e.Message) }

// callTime bounds an operation: TestState may call a task.
const callTime = 5 * time.Minute

func (c caller) call(ctx context.Context, service, operation string, in, out any) error {
	to, ok := c[service]
	if !ok {
		return errors.New("the console calls no service " + service)
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, loopback.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-Amz-Target", to.target+operation)
	r.Header.Set("Content-Type", to.contentType)
	answer, err := loopback.Client(to.handler).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		refused := &serviceError{}
		if err := json.NewDecoder(answer.Body).Decode(refused); err != nil {
			return fmt.Errorf("%s of %s: status %d", operation, service, answer.StatusCode)
		}
		return refused
	}
	return json.NewDecoder(answer.Body).Decode(out)
}
