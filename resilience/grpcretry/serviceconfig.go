package grpcretry

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	"stepback/retry"
)

// maxAttempts is the maximum number of attempts that gRPC makes, even if a service config sets more (gRFC A6).
const maxAttempts = 5

// Method is the retry policy of one or more methods.
type Method struct {
	// Service is the full name of a gRPC service, such as "helloworld.Greeter". If it is empty, the policy is for all
	// services, and Methods must be empty too.
	Service string
	// Methods are the names of the methods. If it is empty, the policy is for the whole service.
	Methods []string
	// Policy is the retry policy; it must allow at least one retry.
	Policy retry.Policy
	// Idempotent means that codes that leave open whether the call took effect are repeated too.
	Idempotent bool
}

// Throttle is the retryThrottling of a service config; the zero value is no throttling.
type Throttle struct {
	// MaxTokens must be between 1 and 1000; TokenRatio must be above 0.
	MaxTokens  int
	TokenRatio float64
}

func (t Throttle) validate() error {
	if t.MaxTokens < 1 || t.MaxTokens > 1000 || !(t.TokenRatio > 0) {
		return fmt.Errorf("grpcretry: Throttle has MaxTokens %d and TokenRatio %v; gRPC takes 1 to 1000 tokens and a ratio above 0",
			t.MaxTokens, t.TokenRatio)
	}
	return nil
}

// StandardThrottle returns the throttle of the example in gRFC A6.
func StandardThrottle() Throttle { return Throttle{MaxTokens: 10, TokenRatio: 0.1} }

// The part of a service config's JSON that concerns retries.
type (
	serviceConfig struct {
		MethodConfig    []methodConfig `json:"methodConfig"`
		RetryThrottling *throttling    `json:"retryThrottling,omitempty"`
	}
	methodConfig struct {
		Name        []methodName `json:"name"`
		RetryPolicy retryPolicy  `json:"retryPolicy"`
	}
	methodName struct {
		Service string `json:"service,omitempty"`
		Method  string `json:"method,omitempty"`
	}
	retryPolicy struct {
		MaxAttempts          int      `json:"maxAttempts"`
		InitialBackoff       string   `json:"initialBackoff"`
		MaxBackoff           string   `json:"maxBackoff"`
		BackoffMultiplier    float64  `json:"backoffMultiplier"`
		RetryableStatusCodes []string `json:"retryableStatusCodes"`
	}
	throttling struct {
		MaxTokens  int     `json:"maxTokens"`
		TokenRatio float64 `json:"tokenRatio"`
	}
)

// ServiceConfig returns a gRPC service config as JSON, for grpc.WithDefaultServiceConfig. It expresses policies of
// the retry table. notes lists where gRPC cannot follow a policy.
func ServiceConfig(methods []Method, throttle Throttle) (config string, notes []string, err error) {
	out := serviceConfig{MethodConfig: []methodConfig{}}
	for _, m := range methods {
		c, n, err := m.config()
		if err != nil {
			return "", nil, err
		}
		out.MethodConfig = append(out.MethodConfig, c)
		notes = append(notes, n...)
	}
	if throttle != (Throttle{}) {
		if err := throttle.validate(); err != nil {
			return "", nil, err
		}
		out.RetryThrottling = &throttling{throttle.MaxTokens, throttle.TokenRatio}
	}
	text, err := json.MarshalIndent(out, "", "  ")
	return string(text), notes, err
}

func (m Method) config() (methodConfig, []string, error) {
	p := m.Policy
	if err := p.Validate(); err != nil {
		return methodConfig{}, nil, fmt.Errorf("grpcretry: %s: %w", m, err)
	}
	if p.MaxAttempts == 0 {
		return methodConfig{}, nil, fmt.Errorf("grpcretry: %s: the policy never retries; omit the method", m)
	}
	if m.Service == "" && len(m.Methods) > 0 {
		return methodConfig{}, nil, fmt.Errorf("grpcretry: methods %v without a service", m.Methods)
	}
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, m.String()+": "+fmt.Sprintf(format, args...)) }
	attempts := p.MaxAttempts + 1
	if attempts > maxAttempts {
		note("%d attempts become %d, the maximum of gRPC", attempts, maxAttempts)
		attempts = maxAttempts
	}
	switch p.Jitter {
	case retry.JitterNone, "":
		note("gRPC varies each wait by ±20 %%; the policy has no jitter")
	case retry.JitterFull,
		retry.JitterPartial,
		retry.JitterDecorrelated,
		retry.JitterProportional:
		note("jitter %s becomes gRPC's own, ±20 %%", p.Jitter)
	}
	plain := p
	plain.Jitter = retry.JitterNone
	longest := plain.MaxDelay
	if longest == 0 {
		longest = plain.Delay(attempts-1, nil)
	}
	c := methodConfig{Name: []methodName{{Service: m.Service}}, RetryPolicy: retryPolicy{
		MaxAttempts: attempts, InitialBackoff: protoDuration(p.Interval), MaxBackoff: protoDuration(longest),
		BackoffMultiplier: p.Rate, RetryableStatusCodes: Codes(m.Idempotent),
	}}
	if len(m.Methods) > 0 {
		c.Name = nil
		for _, name := range m.Methods {
			c.Name = append(c.Name, methodName{m.Service, name})
		}
	}
	return c, notes, nil
}

// String names the service, and the method if there is exactly one.
func (m Method) String() string {
	switch {
	case m.Service == "":
		return "all methods"
	case len(m.Methods) == 1:
		return m.Service + "/" + m.Methods[0]
	default:
		return m.Service
	}
}

// Codes returns the status codes that the retry table repeats, as service configs spell them. They are the codes of
// transient errors and, for idempotent methods, also those of unknown outcomes.
func Codes(idempotent bool) []string {
	repeated := []string{}
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		if c, failed := retry.ClassifyGRPC(uint32(code)); failed && c.Retriable(idempotent) {
			repeated = append(repeated, spelled[code])
		}
	}
	return repeated
}

// spelled contains the status codes as service configs spell them.
var spelled = [...]string{
	codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
	codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.OutOfRange: "OUT_OF_RANGE",
	codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE",
	codes.DataLoss: "DATA_LOSS", codes.Unauthenticated: "UNAUTHENTICATED",
}

// protoDuration formats a duration as in protobuf's JSON.
func protoDuration(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
