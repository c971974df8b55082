// Package sharedguard makes the guard of a Lambda function from its environment: a breaker and a limiter that all
// environments of all functions share through a DynamoDB table, per callee. It prints CircuitBreakerState, and
// SharedStateUnavailable when the table is out of reach, in CloudWatch's embedded metric format.
//
// Without a table there is no guard, and nothing is refused.
package sharedguard

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"stepback/adaptive/breaker"
	"stepback/adaptive/shared"
	"stepback/adaptive/shared/dynamostore"
	"stepback/csvimport/handlers"
	"stepback/retrymetrics"
)

// Callee is what a function calls, and where its metrics are counted.
type Callee struct {
	// Name of the callee; functions that name the same one share its breaker.
	Name string
	// Machine and State are the labels of the metrics.
	Machine, State string
	// Calls is how many calls may be under way at a time while the callee is well, where that is more than the limiter
	// begins with; 0 when it is not known.
	Calls int
}

// FromEnvironment makes the guard of a function in front of a callee, or nil when BREAKER_TABLE is not set. The
// table is that of package dynamostore; metrics are printed to out when STATE_MACHINE, the state machine's
// name, is set. CALLS_AT_A_TIME says how many calls the state machine makes at a time.
func FromEnvironment(ctx context.Context, env func(string) string, callee, state string, out io.Writer,
	log *slog.Logger) (*handlers.Guard, error) {
	table := env("BREAKER_TABLE")
	if table == "" {
		return nil, nil
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("the AWS configuration: %w", err)
	}
	calls, err := callsAtATime(env("CALLS_AT_A_TIME"))
	if err != nil {
		return nil, err
	}
	// One try: the gate fails open, and asks again a second later.
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	return New(&dynamostore.Store{Client: client, Table: table},
		Callee{Name: callee, Machine: env("STATE_MACHINE"), State: state, Calls: calls}, out, log, time.Now)
}

func callsAtATime(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("CALLS_AT_A_TIME is %q: write how many calls are made at a time, as a whole number", text)
	}
	return n, nil
}

// New makes a guard over any store.
func New(store shared.Store, c Callee, out io.Writer, log *slog.Logger, now func() time.Time) (*handlers.Guard, error) {
	p := &printer{callee: c, out: out, log: log, now: now}
	policies := shared.Callee()
	policies.Limiter.Initial = min(max(policies.Limiter.Initial, float64(c.Calls)), policies.Limiter.Max)
	gate, err := shared.NewGate(store, c.Name, policies, shared.Options{
		Now: now, Changed: p.changed, Unavailable: p.unavailable,
	})
	if err != nil {
		return nil, err
	}
	return &handlers.Guard{Gate: gate, Now: now}, nil
}

// printer prints metrics and log lines.
type printer struct {
	callee Callee
	out    io.Writer
	log    *slog.Logger
	now    func() time.Time

	mu sync.Mutex
}

func (p *printer) changed(circuit breaker.Circuit) {
	value := 0.0
	if circuit != breaker.Closed {
		value = 1
	}
	p.log.Info("circuit", "callee", p.callee.Name, "is", circuit.String())
	p.print(retrymetrics.CircuitBreakerState, value)
}

func (p *printer) unavailable(err error) {
	p.log.Warn("the shared breaker is out of reach; nothing is refused", "callee", p.callee.Name, "error", err.Error())
	p.print(retrymetrics.SharedStateUnavailable, 1)
}

func (p *printer) print(m *retrymetrics.Metric, value float64) {
	if p.callee.Machine == "" {
		return
	}
	lines, err := retrymetrics.AppendEMF(nil, []retrymetrics.Point{{
		Metric: m, Labels: retrymetrics.Labels{StateMachine: p.callee.Machine, State: p.callee.State},
		Start: p.now().UTC().Truncate(time.Minute), Values: []float64{value}, Counts: []int64{1},
	}})
	if err != nil {
		p.log.Error("metric", "error", err.Error())
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.out.Write(lines); err != nil {
		p.log.Error("metric", "error", err.Error())
	}
}
