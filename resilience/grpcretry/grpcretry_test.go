package grpcretry_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"stepback/adaptive/breaker"
	"stepback/resilience"
	"stepback/resilience/grpcretry"
	"stepback/retry"
	"stepback/retrypatterns"
)

// three waits 1 s, 2 s and 4 s.
var three = retry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: 3}

// hasty is a clock that records waits without waiting.
type hasty struct {
	mu    sync.Mutex
	waits []time.Duration
}

func (*hasty) Now() time.Time { return time.Now() }

func (c *hasty) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	return ctx.Err()
}

func (*hasty) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// server is a health service that answers with its turns one after the other; the last turn repeats.
type server struct {
	grpc_health_v1.UnimplementedHealthServer
	mu       sync.Mutex
	turns    []func(context.Context) error
	previous []string
}

func (s *server) Check(
	ctx context.Context,
	_ *grpc_health_v1.HealthCheckRequest,
) (*grpc_health_v1.HealthCheckResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	s.mu.Lock()
	s.previous = append(s.previous, strings.Join(md.Get("grpc-previous-rpc-attempts"), ","))
	turn := s.turns[min(len(s.previous), len(s.turns))-1]
	s.mu.Unlock()
	if err := turn(ctx); err != nil {
		return nil, err
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func (s *server) wantCalls(t *testing.T, previous ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.previous, previous) {
		t.Errorf("calls after %q attempts, want %q", s.previous, previous)
	}
}

func fails(code codes.Code, pushback ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		if len(pushback) > 0 {
			_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", pushback[0]))
		}
		if code == codes.OK {
			return nil
		}
		return status.Error(code, "on purpose")
	}
}

func serve(
	t *testing.T,
	options []grpc.DialOption,
	turns ...func(context.Context) error,
) (*server, grpc_health_v1.HealthClient) {
	t.Helper()
	s := &server{turns: turns}
	listener := bufconn.Listen(1 << 16)
	g := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(g, s)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(listener) })
	t.Cleanup(func() { g.Stop(); serving.Wait() })
	conn, err := grpc.NewClient("passthrough:test", append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(
			func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return s, grpc_health_v1.NewHealthClient(conn)
}

// intercepted starts a server with the given turns, and a client whose interceptor uses a clock that does not wait.
func intercepted(
	t *testing.T,
	s grpcretry.Config,
	turns ...func(context.Context) error,
) (*server, grpc_health_v1.HealthClient, *hasty) {
	t.Helper()
	clock := &hasty{}
	s.Options = append(s.Options, resilience.WithClock(clock))
	options, err := grpcretry.DialOptions(s)
	if err != nil {
		t.Fatal(err)
	}
	server, client := serve(t, options, turns...)
	return server, client, clock
}

func check(t *testing.T, client grpc_health_v1.HealthClient, want codes.Code) error {
	t.Helper()
	out, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if status.Code(err) != want || err == nil && out.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v; want %s", out, err, want)
	}
	return err
}

func always(string) bool { return true }

func TestUnavailableIsRepeated(t *testing.T) {
	t.Parallel()
	s, client, clock := intercepted(t, grpcretry.Config{Policy: three}, fails(codes.Unavailable),
		fails(codes.ResourceExhausted), fails(codes.OK))
	_ = check(t, client, codes.OK)
	s.wantCalls(t, "", "1", "2")
	if want := []time.Duration{time.Second, 2 * time.Second}; !slices.Equal(clock.waits, want) {
		t.Errorf("waits %v", clock.waits)
	}
}

func TestWhatIsRepeated(t *testing.T) {
	t.Parallel()
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		for _, idempotent := range []bool{false, true} {
			config := grpcretry.Config{Policy: three, Idempotent: func(string) bool { return idempotent }}
			s, client, _ := intercepted(t, config, fails(code), fails(codes.OK))
			repeated := slices.Contains(map[bool][]codes.Code{
				false: {codes.Unavailable, codes.ResourceExhausted},
				true: {
					codes.Unavailable, codes.ResourceExhausted, codes.Unknown, codes.DeadlineExceeded, codes.Internal,
				},
			}[idempotent], code)
			if repeated {
				_ = check(t, client, codes.OK)
				s.wantCalls(t, "", "1")
			} else {
				_ = check(t, client, code) // the status is passed through
				s.wantCalls(t, "")
			}
		}
	}
}

func TestPushback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pushback string
		wait     time.Duration
		repeated bool
	}{{"250", 250 * time.Millisecond, true}, {"0", 0, true}, {"-1", 0, false}, {"soon", 0, false},
		{"99999999999", 0, false}} {
		s, client, clock := intercepted(t, grpcretry.Config{Policy: three}, fails(codes.Unavailable, c.pushback),
			fails(codes.OK))
		if c.repeated {
			_ = check(t, client, codes.OK)
			if len(clock.waits) != 1 || clock.waits[0] != c.wait {
				t.Errorf("%s: waits %v", c.pushback, clock.waits)
			}
			continue
		}
		if err := check(t, client, codes.Unavailable); !errors.Is(err, resilience.ErrPushback) {
			t.Errorf("%s: %v", c.pushback, err)
		}
		s.wantCalls(t, "")
	}
}

func TestThrottle(t *testing.T) {
	t.Parallel()
	config := grpcretry.Config{
		Policy:   retry.Policy{Interval: 1, Rate: 1, MaxAttempts: 100},
		Throttle: grpcretry.StandardThrottle(),
	}
	s, client, _ := intercepted(t, config, fails(codes.Unavailable))
	if err := check(t, client, codes.Unavailable); !errors.Is(err, resilience.ErrBudget) {
		t.Errorf("error is %v", err)
	}
	s.wantCalls(t, "", "1", "2", "3", "4") // the fifth failure leaves five tokens of ten
}

func TestACallThatWasNeverMadeHasAStatus(t *testing.T) {
	t.Parallel()
	b, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
	if err != nil {
		t.Fatal(err)
	}
	b.Trip()
	_, client, _ := intercepted(t,
		grpcretry.Config{Policy: three, Options: []resilience.Option{resilience.WithBreaker(b)}}, fails(codes.OK))
	if err := check(t, client, codes.Unavailable); !errors.Is(err, resilience.ErrCircuitOpen) {
		t.Errorf("error is %v", err)
	}
	for want, end := range map[codes.Code]func(context.Context) (context.Context, context.CancelFunc){
		codes.Canceled: context.WithCancel,
		codes.DeadlineExceeded: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, -1)
		},
	} {
		ctx, cancel := end(t.Context())
		cancel()
		_, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		if status.Code(err) != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// TestAttemptTimeout allows as many attempts as a slow machine needs: each attempt may time out before it reaches the
// server.
func TestAttemptTimeout(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	many := three
	many.MaxAttempts = 100
	config := grpcretry.Config{
		Policy:     many,
		Idempotent: always,
		Options:    []resilience.Option{resilience.WithAttemptTimeout(50 * time.Millisecond)},
	}
	s, client, _ := intercepted(t, config, hang, fails(codes.OK))
	_ = check(t, client, codes.OK)
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.previous[len(s.previous)-1]; len(s.previous) < 2 || last == "" || last == "0" {
		t.Errorf("calls after %q attempts, want a further one after the first", s.previous)
	}
}

func TestWrongSettings(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]grpcretry.Config{
		"policy":   {Policy: retry.Policy{MaxAttempts: -1}},
		"throttle": {Throttle: grpcretry.Throttle{MaxTokens: -1}},
		"hedge":    {Policy: three, Options: []resilience.Option{resilience.WithHedge(time.Second, 1)}},
	} {
		if _, err := grpcretry.DialOptions(s); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestServiceConfig(t *testing.T) {
	t.Parallel()
	aggressive, _ := retrypatterns.PatternNamed(retrypatterns.Aggressive)
	interactive, _ := retry.PresetNamed("interactive")
	config, notes, err := grpcretry.ServiceConfig([]grpcretry.Method{
		{Service: "shop.Orders", Policy: aggressive.Policy},
		{Service: "shop.Orders", Methods: []string{"Get", "List"}, Policy: interactive.Policy, Idempotent: true},
	}, grpcretry.StandardThrottle())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"methodConfig":[` +
		`{"name":[{"service":"shop.Orders"}],"retryPolicy":{"maxAttempts":5,"initialBackoff":"1s","maxBackoff":"60s",` +
		`"backoffMultiplier":2,"retryableStatusCodes":["RESOURCE_EXHAUSTED","UNAVAILABLE"]}},` +
		`{"name":[{"service":"shop.Orders","method":"Get"},{"service":"shop.Orders","method":"List"}],"retryPolicy":{"maxAttempts":4,` +
		`"initialBackoff":"0.1s","maxBackoff":"3s","backoffMultiplier":2,"retryableStatusCodes":["UNKNOWN","DEADLINE_EXCEEDED",` +
		`"RESOURCE_EXHAUSTED","INTERNAL","UNAVAILABLE"]}}],"retryThrottling":{"maxTokens":10,"tokenRatio":0.1}}`
	var got any
	if err := json.Unmarshal([]byte(config), &got); err != nil {
		t.Fatal(err)
	}
	var wanted any
	_ = json.Unmarshal([]byte(want), &wanted)
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(wanted)
	if string(a) != string(b) {
		t.Errorf("%s\nwant %s", a, b)
	}
	wantNotes := []string{
		"shop.Orders: 6 attempts become 5, the maximum of gRPC",
		"shop.Orders: jitter FULL becomes gRPC's own, ±20 %",
		"shop.Orders: jitter PROPORTIONAL becomes gRPC's own, ±20 %",
	}
	if !slices.Equal(notes, wantNotes) {
		t.Errorf("notes %q", notes)
	}
}

// TestGRPCTakesTheServiceConfig lets gRPC itself retry by the service config.
func TestGRPCTakesTheServiceConfig(t *testing.T) {
	t.Parallel()
	fast := retry.Policy{Interval: time.Millisecond, Rate: 2, MaxAttempts: 3}
	config, _, err := grpcretry.ServiceConfig([]grpcretry.Method{{Service: "grpc.health.v1.Health", Policy: fast}},
		grpcretry.Throttle{})
	if err != nil {
		t.Fatal(err)
	}
	s, client := serve(t, []grpc.DialOption{grpc.WithDefaultServiceConfig(config)}, fails(codes.Unavailable),
		fails(codes.Unavailable), fails(codes.OK))
	_ = check(t, client, codes.OK)
	s.wantCalls(t, "", "1", "2")
}

func TestServiceConfigsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method   grpcretry.Method
		throttle grpcretry.Throttle
	}{
		"no retry":        {method: grpcretry.Method{}},
		"wrong policy":    {method: grpcretry.Method{Policy: retry.Policy{MaxAttempts: 1}}},
		"no service":      {method: grpcretry.Method{Methods: []string{"Get"}, Policy: three}},
		"too many tokens": {grpcretry.Method{Policy: three}, grpcretry.Throttle{MaxTokens: 1001, TokenRatio: 1}},
		"a ratio of zero": {grpcretry.Method{Policy: three}, grpcretry.Throttle{MaxTokens: 10}},
	} {
		if _, _, err := grpcretry.ServiceConfig([]grpcretry.Method{c.method}, c.throttle); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
