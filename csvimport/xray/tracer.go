package xray

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Tracer is a pgx.QueryTracer, BatchTracer and ConnectTracer. Its zero value is ready for use; without the daemon's
// address it does nothing.
type Tracer struct {
	// Address is the daemon's host:port; empty means AWS_XRAY_DAEMON_ADDRESS.
	Address string

	once sync.Once
	conn net.Conn // nil without a daemon
}

// traceHeader is the key under which aws-lambda-go stores the trace header of an invocation in its context.
const traceHeader = "x-amzn-trace-id"

// maxText limits the length of the statement in a subsegment, in bytes. A datagram holds up to 64 kB.
const maxText = 2000

// segment is a subsegment in the daemon's format.
type segment struct {
	Name      string  `json:"name"`
	ID        string  `json:"id"`
	TraceID   string  `json:"trace_id"`
	ParentID  string  `json:"parent_id"`
	Type      string  `json:"type"`
	Namespace string  `json:"namespace"`
	Start     float64 `json:"start_time"`
	End       float64 `json:"end_time"`
	Fault     bool    `json:"fault,omitempty"`
	SQL       *sql    `json:"sql,omitempty"`
	Cause     *cause  `json:"cause,omitempty"`
}

type sql struct {
	Text string `json:"sanitized_query"`
	Kind string `json:"database_type"`
	User string `json:"user,omitempty"`
}

type cause struct {
	Exceptions []exception `json:"exceptions"`
}

type exception struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

type open struct{ segment }

type openKey struct{}

// begin adds a new subsegment to the context if the invocation is recorded.
func (t *Tracer) begin(ctx context.Context, database, user, text string) context.Context {
	header, _ := ctx.Value(traceHeader).(string)
	trace, parent, sampled := parse(header)
	if !sampled || t.daemon() == nil {
		return ctx
	}
	return context.WithValue(ctx, openKey{}, &open{segment{
		Name: database, ID: newID(), TraceID: trace, ParentID: parent, Type: "subsegment", Namespace: "remote",
		Start: seconds(time.Now()),
		SQL:   &sql{Text: text[:min(len(text), maxText)], Kind: "PostgreSQL", User: user},
	}})
}

// end sends the context's subsegment.
func (t *Tracer) end(ctx context.Context, err error) {
	o, _ := ctx.Value(openKey{}).(*open)
	if o == nil {
		return
	}
	o.End = seconds(time.Now())
	if err != nil {
		o.Fault, o.Cause = true, &cause{[]exception{{newID(), err.Error()}}}
	}
	text, err := json.Marshal(o.segment)
	if err != nil {
		return
	}
	// a lost datagram only leaves a gap in the trace
	_, _ = t.conn.Write(append([]byte("{\"format\": \"json\", \"version\": 1}\n"), text...))
}

func (t *Tracer) daemon() net.Conn {
	t.once.Do(func() {
		address := t.Address
		if address == "" {
			address = os.Getenv("AWS_XRAY_DAEMON_ADDRESS")
		}
		if address != "" {
			t.conn, _ = (&net.Dialer{}).DialContext(context.Background(), "udp", address)
		}
	})
	return t.conn
}

// parse parses a header such as Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1.
func parse(header string) (trace, parent string, sampled bool) {
	for part := range strings.SplitSeq(header, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Root":
			trace = value
		case "Parent":
			parent = value
		case "Sampled":
			sampled = value == "1"
		}
	}
	return trace, parent, sampled && trace != "" && parent != ""
}

func newID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // rand.Read never fails
	return hex.EncodeToString(id[:])
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// TraceQueryStart implements pgx.QueryTracer.
func (t *Tracer) TraceQueryStart(ctx context.Context, c *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return t.begin(ctx, name(c.Config()), c.Config().User, q.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t *Tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	t.end(ctx, q.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (t *Tracer) TraceBatchStart(ctx context.Context, c *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	texts := make([]string, 0, len(b.Batch.QueuedQueries))
	for _, q := range b.Batch.QueuedQueries {
		texts = append(texts, q.SQL)
	}
	return t.begin(ctx, name(c.Config()), c.Config().User, strings.Join(texts, ";\n"))
}

// TraceBatchQuery implements pgx.BatchTracer.
func (t *Tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (t *Tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, b pgx.TraceBatchEndData) {
	t.end(ctx, b.Err)
}

// TraceConnectStart implements pgx.ConnectTracer.
func (t *Tracer) TraceConnectStart(ctx context.Context, c pgx.TraceConnectStartData) context.Context {
	return t.begin(ctx, name(c.ConnConfig), c.ConnConfig.User, "connect")
}

// TraceConnectEnd implements pgx.ConnectTracer.
func (t *Tracer) TraceConnectEnd(ctx context.Context, c pgx.TraceConnectEndData) { t.end(ctx, c.Err) }

// name returns the name under which X-Ray's service map shows a database.
func name(c *pgx.ConnConfig) string { return c.Database + "@" + c.Host }
