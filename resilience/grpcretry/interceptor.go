// Package grpcretry repeats gRPC calls by the retry table, in one of two ways. [ServiceConfig] returns a service
// config, which gRPC itself executes. [Interceptor] returns a client interceptor, which supports what a service
// config cannot express: the policies' own waits and jitter, more than five attempts, a circuit breaker, a bulkhead,
// deadlines, metrics.
//
// Use only one of them: [DialOptions] switches gRPC's own retries off. The interceptor repeats unary calls only.
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

// The metadata that client and server exchange about retries (gRFC A6).
const (
	pushbackKey = "grpc-retry-pushback-ms"
	previousKey = "grpc-previous-rpc-attempts"
)

// Config configures an interceptor.
type Config struct {
	// Policy is the retry policy.
	Policy retry.Policy
	// Idempotent reports whether a call may take effect twice. method is the full method name, such as
	// "/helloworld.Greeter/SayHello". nil means that no call may.
	Idempotent func(method string) bool
	// Throttle bounds the retries of all calls of the interceptor together, as in gRFC A6; the zero value is no
	// bound. Use one interceptor for each server name, because gRPC counts per server name.
	Throttle Throttle
	// Options are further options of the executor. Hedges are not allowed, because only one call can write to a
	// reply.
	Options []resilience.Option
}

// Interceptor returns an interceptor that repeats unary calls. A server's pushback (grpc-retry-pushback-ms) replaces
// the policy's wait or ends the retries. The error of a failed call has the status of its last attempt; if the call
// was never made, the status is UNAVAILABLE, CANCELLED or DEADLINE_EXCEEDED. errors.As finds the *resilience.Error in
// it.
func Interceptor(c Config) (grpc.UnaryClientInterceptor, error) {
	options := []resilience.Option{resilience.WithIdempotentByCall()}
	if c.Throttle != (Throttle{}) {
		if err := c.Throttle.validate(); err != nil {
			return nil, err
		}
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
			Want:    "none: only one call can write to a reply",
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

// DialOptions returns options that install the interceptor and switch gRPC's own retries off. gRPC still repeats a
// call if nothing of it has left the client.
func DialOptions(c Config) ([]grpc.DialOption, error) {
	i, err := Interceptor(c)
	if err != nil {
		return nil, err
	}
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(i), grpc.WithDisableRetry()}, nil
}

// call is one call in progress.
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

// withStatus adds a status to the error of a call that was never made: DEADLINE_EXCEEDED, CANCELLED or UNAVAILABLE.
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
