// Package grpcretry repeats gRPC calls by the retry table, in one of two ways: as a service config, which gRPC itself
// carries out ([ServiceConfig]), or as a client interceptor, which does what a service config cannot: the policies' own
// waits and jitter, more than five attempts, a circuit breaker, a bulkhead, deadlines, metrics ([Interceptor]).
//
// Use one of them: [DialOptions] switches gRPC's own retries off. Only unary calls are repeated by the interceptor.
package grpcretry

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"stepback/adaptive/budget"
	"stepback/resilience"
	"stepback/retry"
)

// What client and server tell each other (gRFC A6).
const (
	pushbackKey = "grpc-retry-pushback-ms"
	previousKey = "grpc-previous-rpc-attempts"
)

// Config has what an interceptor is made of.
type Config struct {
	// Policy repeats.
	Policy retry.Policy
	// Idempotent says of a full method name, such as "/helloworld.Greeter/SayHello", whether a call may take effect
	// twice; nil says that none may.
	Idempotent func(method string) bool
	// Throttle bounds retries by gRFC A6, for all calls of the interceptor together; the zero value is no bound. Use
	// one interceptor for each server name, as gRPC counts.
	Throttle Throttle
	// Options are any others of the executor, but no hedges: a reply can be written to by one call only.
	Options []resilience.Option
}

// Interceptor repeats unary calls. A server's pushback (grpc-retry-pushback-ms) takes the place of the policy's wait or
// ends the retries. The error of a call that failed has the status of its last attempt, and of a call that was never
// made UNAVAILABLE, CANCELLED or DEADLINE_EXCEEDED; errors.As finds the *resilience.Error in it.
func Interceptor(c Config) (grpc.UnaryClientInterceptor, error) {
	options := []resilience.Option{resilience.WithIdempotentByCall()}
	if c.Throttle != (Throttle{}) {
		tokens := float64(c.Throttle.MaxTokens)
		b, err := budget.New(budget.Config{Policy: budget.Policy{
			Capacity: tokens, PerSuccess: c.Throttle.TokenRatio, FailureCost: 1, Threshold: tokens / 2,
		}})
		if err != nil {
			return nil, err
		}
		options = append(options, resilience.WithBudget(b))
	}
	e, err := resilience.New(c.Policy, append(options, c.Options...)...)
	if err != nil {
		return nil, err
	}
	if e.Hedges() {
		return nil, &resilience.ConfigError{
			Setting: "WithHedge",
			Value:   "set",
			Want:    "none: a reply can be written to by one call only",
		}
	}
	idempotent := c.Idempotent
	if idempotent == nil {
		idempotent = func(string) bool { return false }
	}
	return func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
		invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		c := call{method: method, req: req, reply: reply, conn: conn, invoke: invoke, opts: opts}
		_, err := resilience.Call[struct{}]{Run: c.attempt, Idempotent: idempotent(method)}.Do(ctx, e)
		return withStatus(err)
	}, nil
}

// DialOptions are the interceptor, and gRPC's own retries switched off; what gRPC repeats before anything has left the
// client stays.
func DialOptions(c Config) ([]grpc.DialOption, error) {
	i, err := Interceptor(c)
	if err != nil {
		return nil, err
	}
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(i), grpc.WithDisableRetry()}, nil
}

// call is one call on its way.
type call struct {
	method     string
	req, reply any
	conn       *grpc.ClientConn
	invoke     grpc.UnaryInvoker
	opts       []grpc.CallOption
	attempts   atomic.Int32
}

func (c *call) attempt(ctx context.Context) (struct{}, error) {
	if before := c.attempts.Add(1) - 1; before > 0 {
		ctx = metadata.AppendToOutgoingContext(ctx, previousKey, strconv.Itoa(int(before)))
	}
	var trailer metadata.MD
	opts := append(slices.Clip(c.opts), grpc.Trailer(&trailer))
	err := c.invoke(ctx, c.method, c.req, c.reply, c.conn, opts...)
	if values := trailer.Get(pushbackKey); err != nil && len(values) > 0 {
		ms, wrong := strconv.ParseInt(values[0], 10, 32)
		err = resilience.MarkPushback(err, time.Duration(ms)*time.Millisecond,
			wrong == nil && ms >= 0 && len(values) == 1)
	}
	return struct{}{}, err
}

// withStatus gives an error of a call that was never made a status.
func withStatus(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	code := codes.Unavailable
	switch {
	case errors.Is(err, resilience.ErrDeadline):
		code = codes.DeadlineExceeded
	case errors.Is(err, resilience.ErrCancelled):
		code = codes.Canceled
	}
	return &refused{err, status.New(code, err.Error())}
}

type refused struct {
	error
	status *status.Status
}

func (r *refused) Unwrap() error              { return r.error }
func (r *refused) GRPCStatus() *status.Status { return r.status }
