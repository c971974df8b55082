// Package pgxtrace sends a function's calls to its PostgreSQL database to AWS X-Ray. If AWS Lambda has chosen to record
// the trace of an invocation, each new connection and each statement becomes a subsegment in it. Package xray sends it.
package pgxtrace

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport/xray"
)

// Tracer is a pgx.QueryTracer, BatchTracer and ConnectTracer. Create it with New.
type Tracer struct{ xray *xray.Tracer }

// New returns a tracer that sends its subsegments with t.
func New(t *xray.Tracer) *Tracer { return &Tracer{t} }

// TraceQueryStart implements pgx.QueryTracer.
func (t *Tracer) TraceQueryStart(ctx context.Context, c *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return t.xray.Begin(ctx, name(c.Config()), c.Config().User, q.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t *Tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	t.xray.End(ctx, q.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (t *Tracer) TraceBatchStart(ctx context.Context, c *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	texts := make([]string, 0, len(b.Batch.QueuedQueries))
	for _, q := range b.Batch.QueuedQueries {
		texts = append(texts, q.SQL)
	}
	return t.xray.Begin(ctx, name(c.Config()), c.Config().User, strings.Join(texts, ";\n"))
}

// TraceBatchQuery implements pgx.BatchTracer.
func (t *Tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (t *Tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, b pgx.TraceBatchEndData) {
	t.xray.End(ctx, b.Err)
}

// TraceConnectStart implements pgx.ConnectTracer.
func (t *Tracer) TraceConnectStart(ctx context.Context, c pgx.TraceConnectStartData) context.Context {
	return t.xray.Begin(ctx, name(c.ConnConfig), c.ConnConfig.User, "connect")
}

// TraceConnectEnd implements pgx.ConnectTracer.
func (t *Tracer) TraceConnectEnd(ctx context.Context, c pgx.TraceConnectEndData) {
	t.xray.End(ctx, c.Err)
}

// name returns the name under which X-Ray's service map shows a database.
func name(c *pgx.ConnConfig) string { return c.Database + "@" + c.Host }
