// Package pgxlimits bounds how long a pgx pool waits for its server. pgx by itself waits without end for a server that
// is connected and no longer responds: one that is paused, or that is behind a proxy or a firewall that drops packets.
// PostgreSQL's statement_timeout does not help then, because the server enforces it.
package pgxlimits

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The limits that Set applies if the connection string sets none.
const (
	// ConnectTimeout bounds the whole of one connection attempt, including TLS and authentication.
	ConnectTimeout = 5 * time.Second
	// StatementTimeout bounds one statement or batch, from sending it until its last row is read.
	StatementTimeout = 30 * time.Second
)

const (
	// pingTimeout bounds the check of a connection that was idle, before it is used again.
	pingTimeout = 5 * time.Second
	// grace is added to the server's limits: the client waits longer, so that the server's error arrives first.
	grace = 10 * time.Second
)

// Set puts limits on connecting, on pings and on each statement. Limits in the connection string take precedence:
// connect_timeout, pool_ping_timeout and statement_timeout. After statement_timeout the client waits 10 s more for
// the server's own error; statement_timeout=0 means that statements have no limit. A statement that takes too long
// fails with context.DeadlineExceeded, and pgx cancels it and closes its connection. Call Set last: it wraps
// config.BeforeConnect and the tracer.
func Set(config *pgxpool.Config) {
	c := config.ConnConfig
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, ConnectTimeout)
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	if before := config.BeforeConnect; before != nil {
		config.BeforeConnect = func(ctx context.Context, cc *pgx.ConnConfig) error {
			ctx, cancel := context.WithTimeout(ctx, cc.ConnectTimeout)
			defer cancel()
			return before(ctx, cc)
		}
	}
	limit := limiter{StatementTimeout}
	if text, ok := c.RuntimeParams["statement_timeout"]; ok {
		if d, ok := parse(text); ok && d == 0 {
			limit.statement = 0
		} else if ok {
			limit.statement = d + grace
		}
	}
	if c.Tracer != nil {
		c.Tracer = multitracer.New(limit, c.Tracer)
	} else {
		c.Tracer = limit
	}
}

// Within returns a context with a different limit: each statement that uses it may take d instead of what Set has
// set; 0 means no limit.
func Within(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, withinKey{}, d)
}

type (
	withinKey struct{}
	cancelKey struct{}
)

// limiter implements pgx.QueryTracer and pgx.BatchTracer. It can limit statements because pgx uses the context that
// a tracer returns.
type limiter struct{ statement time.Duration }

func (l limiter) begin(ctx context.Context) context.Context {
	d := l.statement
	if within, ok := ctx.Value(withinKey{}).(time.Duration); ok {
		d = within
	}
	if d == 0 {
		return context.WithValue(ctx, cancelKey{}, context.CancelFunc(func() {}))
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	return context.WithValue(ctx, cancelKey{}, cancel)
}

func end(ctx context.Context) {
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (l limiter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return l.begin(ctx)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (limiter) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) { end(ctx) }

// TraceBatchStart implements pgx.BatchTracer.
func (l limiter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return l.begin(ctx)
}

// TraceBatchQuery implements pgx.BatchTracer.
func (limiter) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (limiter) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) { end(ctx) }

// parse parses a duration in the form of PostgreSQL's settings: a number with the unit us, ms, s, min, h or d, or
// without a unit for milliseconds. ok is false for anything else, which the server will reject.
func parse(text string) (d time.Duration, ok bool) {
	text = strings.TrimSpace(text)
	unit := time.Millisecond
	for _, u := range []struct {
		name string
		is   time.Duration
	}{{"us", time.Microsecond}, {"ms", time.Millisecond}, {"s", time.Second}, {"min", time.Minute}, {"h", time.Hour},
		{"d", 24 * time.Hour}} {
		if number, found := strings.CutSuffix(text, u.name); found {
			text, unit = strings.TrimSpace(number), u.is
			break
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n*float64(unit) > float64(100*365*24*time.Hour) {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}
