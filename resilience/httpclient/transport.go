package httpclient

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"stepback/adaptive/breaker"
	"stepback/adaptive/deadline"
	"stepback/adaptive/limiter"
	"stepback/resilience"
	"stepback/retry"
)

// IdempotencyKey is the request header defined by draft-ietf-httpapi-idempotency-key-header.
const IdempotencyKey = "Idempotency-Key"

// The defaults of [Config].
const (
	defaultAttemptTimeout = 30 * time.Second
	defaultMaxBody        = 1 << 20
	defaultMaxHosts       = 256
)

// Config configures a [Transport]. The zero Config repeats by the preset external_api, without breaker, bulkhead or
// budget.
type Config struct {
	// Base sends the requests; nil means http.DefaultTransport.
	Base http.RoundTripper
	// Policy is the retry policy; nil means the preset external_api. For no retries, use &retry.Policy{}.
	Policy *retry.Policy
	// AttemptTimeout limits each attempt until the response's headers have arrived; 0 means 30 s. The body is read
	// under the caller's context.
	AttemptTimeout time.Duration
	// Breaker is the policy of each host's circuit breaker; nil means no breaker. breaker.Callee returns one that suits
	// most services.
	Breaker *breaker.Policy
	// Bulkhead limits the calls to each host; nil means no limit. A call ends when the response's headers have
	// arrived.
	Bulkhead *resilience.BulkheadConfig
	// Limiter is the policy of each host's limiter of concurrent attempts, which learns the limit; nil means no
	// limiter.
	Limiter *limiter.Policy
	// Budget returns the retry budget of a host; nil means no budget.
	Budget func(host string) (resilience.Budget, error)
	// Options are further options of each host's executor, such as resilience.WithObserver or resilience.WithHedge.
	// They are applied last.
	Options []resilience.Option
	// MakeKeys adds an Idempotency-Key to requests whose method is not idempotent, and repeats them as idempotent.
	// Set it if the servers support the header. An existing key is kept.
	MakeKeys bool
	// SendDeadline sends the time that is left for each attempt in the header deadline.Header, so that a callee with
	// deadline.Handler ends its work, and its own calls, when the caller stops waiting.
	SendDeadline bool
	// MaxBody is the maximum number of bytes of a request's body that are kept for sending it again, if the request
	// has no GetBody. 0 means 1 MiB; a negative value keeps none. A request with a longer body is sent only once.
	MaxBody int64
	// MaxHosts is the number of hosts for which state is kept; 0 means 256. The least recently used host is dropped
	// first.
	MaxHosts int
}

// Transport is an http.RoundTripper. It is safe for concurrent use.
type Transport struct {
	base     http.RoundTripper
	config   Config
	policy   retry.Policy
	hosts    hosts
	patience time.Duration // how long to drain the body of a server that stalls
}

// New returns a transport. If a setting is unusable, the error names it.
func New(s Config) (*Transport, error) {
	t := &Transport{base: s.Base, config: s, patience: time.Second}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	if s.Policy != nil {
		t.policy = *s.Policy
	} else {
		preset, _ := retry.PresetNamed("external_api")
		t.policy = preset.Policy
	}
	t.config.AttemptTimeout = cmp.Or(s.AttemptTimeout, defaultAttemptTimeout)
	t.config.MaxBody = max(cmp.Or(s.MaxBody, defaultMaxBody), 0)
	t.config.MaxHosts = cmp.Or(s.MaxHosts, defaultMaxHosts)
	if t.config.MaxHosts < 0 {
		return nil, &resilience.ConfigError{
			Setting: "MaxHosts",
			Value:   strconv.Itoa(s.MaxHosts),
			Want:    "0 (256) or more",
		}
	}
	t.hosts.init(t.config.MaxHosts, t.executor)
	if _, err := t.executor("example.com"); err != nil { // reports invalid settings now
		return nil, err
	}
	return t, nil
}

// executor builds the executor of a host.
func (t *Transport) executor(host string) (*resilience.Executor, error) {
	options := []resilience.Option{
		resilience.WithName(host), resilience.WithAttemptTimeout(t.config.AttemptTimeout),
		resilience.WithIdempotentByCall(), resilience.WithClassifier(classify),
	}
	if t.config.Breaker != nil {
		b, err := breaker.New(breaker.Config{Policy: *t.config.Breaker})
		if err != nil {
			return nil, err
		}
		options = append(options, resilience.WithBreaker(b))
	}
	if t.config.Bulkhead != nil {
		b, err := resilience.NewBulkhead(*t.config.Bulkhead)
		if err != nil {
			return nil, err
		}
		options = append(options, resilience.WithBulkhead(b))
	}
	if t.config.Limiter != nil {
		l, err := limiter.New(limiter.Config{Policy: *t.config.Limiter})
		if err != nil {
			return nil, err
		}
		options = append(options, resilience.WithLimiter(l))
	}
	if t.config.Budget != nil {
		b, err := t.config.Budget(host)
		if err != nil {
			return nil, err
		}
		options = append(options, resilience.WithBudget(b))
	}
	return resilience.New(t.policy, append(options, t.config.Options...)...)
}

// Statistics returns the counts for each host whose state is kept.
func (t *Transport) Statistics() map[string]resilience.Statistics { return t.hosts.statistics() }

// CloseIdleConnections closes the base transport's idle connections. http.Client calls it.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// ErrBodyGone is the reason why a request was not sent again: its body is too long to keep and has no GetBody.
var ErrBodyGone = errors.New("the request's body is too long to buffer and has no GetBody, so it cannot be sent again")

// RoundTrip sends the request and repeats it while that can help. The request is not modified. The error is a
// *resilience.Error.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL == nil {
		closeBody(req)
		return nil, errors.New("httpclient: the request has no URL")
	}
	e, err := t.hosts.of(strings.ToLower(req.URL.Host))
	if err != nil {
		closeBody(req)
		return nil, err
	}
	c := call{transport: t, request: req, body: replayOf(req, t.config.MaxBody)}
	idempotent := c.prepare()
	defer c.body.finish()
	resp, err := resilience.Call[*http.Response]{
		Run: c.send, Judge: c.judge, Idempotent: idempotent, Final: c.final, Keep: keep, Discard: t.drain,
	}.Do(req.Context(), e)
	if resp != nil { // the last response itself says what is wrong
		return resp, nil
	}
	return nil, err
}

// call is one request in progress.
type call struct {
	transport *Transport
	request   *http.Request
	body      *replay
	attempts  atomic.Int32
}

// prepare adds an idempotency key if the settings ask for it, and reports whether the request may run twice.
func (c *call) prepare() (idempotent bool) {
	switch c.request.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	if c.request.Header.Get(IdempotencyKey) != "" {
		return true
	}
	if !c.transport.config.MakeKeys {
		return false
	}
	keyed := *c.request
	keyed.Header = keyed.Header.Clone()
	if keyed.Header == nil {
		keyed.Header = http.Header{}
	}
	keyed.Header.Set(IdempotencyKey, `"`+uuid.NewString()+`"`) // a string as in RFC 8941, hence the quotes
	c.request = &keyed
	return true
}

// send makes one attempt.
func (c *call) send(ctx context.Context) (*http.Response, error) {
	first := c.attempts.Add(1) == 1
	progress := &progress{}
	req := c.request.WithContext(progress.watch(ctx))
	body, err := c.body.open(first)
	if err != nil {
		return nil, resilience.Mark(err, retry.Permanent, retry.InvalidInput)
	}
	req.Body = body
	if c.transport.config.SendDeadline {
		if req.Header = req.Header.Clone(); req.Header == nil {
			req.Header = http.Header{}
		}
		deadline.SetHeader(req.Header, ctx, time.Now())
	}
	resp, err := c.transport.base.RoundTrip(req)
	if err != nil {
		return nil, &TransportError{Sent: progress.sent(), connecting: progress.asked.Load(), Err: err}
	}
	return resp, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // nothing was sent
	}
}
