package xray

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// Tracer sends subsegments. Its zero value is ready for use; without the daemon's address it does nothing.
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
	Namespace string  `json:"namespace,omitempty"`
	Start     float64 `json:"start_time"`
	End       float64 `json:"end_time"`
	Fault     bool    `json:"fault,omitempty"`
	SQL       *sql    `json:"sql,omitempty"`
	Cause     *cause  `json:"cause,omitempty"`

	Annotations map[string]any `json:"annotations,omitempty"`
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

// Attempt begins a subsegment for an attempt of a state. The calls made with the context that it returns are recorded
// below it. The function that it returns ends the subsegment; failure is nil for a success. Annotations are the
// attributes that an attempt has when it begins, more those that it has when it ends; X-Ray allows letters, digits and
// underscores in their names.
func (t *Tracer) Attempt(ctx context.Context, state string, annotations map[string]any) (
	inner context.Context, end func(failure error, more map[string]any),
) {
	o := t.open(ctx, state)
	if o == nil {
		return ctx, func(error, map[string]any) {}
	}
	o.Annotations = maps.Clone(annotations)
	header := "Root=" + o.TraceID + ";Parent=" + o.ID + ";Sampled=1"
	ctx = context.WithValue(ctx, traceHeader, header) //nolint:staticcheck // aws-lambda-go's key
	return ctx, func(failure error, more map[string]any) {
		maps.Copy(o.Annotations, more)
		t.send(o, failure)
	}
}

// open returns a new subsegment, or nil if the invocation is not recorded.
func (t *Tracer) open(ctx context.Context, name string) *open {
	header, _ := ctx.Value(traceHeader).(string)
	trace, parent, sampled := parse(header)
	if !sampled || t.daemon() == nil { //nolint:contextcheck // the connection outlives the invocation
		return nil
	}
	return &open{
		segment{
			Name:     name,
			ID:       newID(),
			TraceID:  trace,
			ParentID: parent,
			Type:     "subsegment",
			Start:    seconds(time.Now()),
		},
	}
}

// Begin adds a new subsegment to the context for a statement that a user sends to a PostgreSQL database, if the
// invocation is recorded. database is the name under which X-Ray's service map shows it.
func (t *Tracer) Begin(ctx context.Context, database, user, text string) context.Context {
	o := t.open(ctx, database)
	if o == nil {
		return ctx
	}
	o.Namespace, o.SQL = "remote", &sql{Text: text[:min(len(text), maxText)], Kind: "PostgreSQL", User: user}
	return context.WithValue(ctx, openKey{}, o)
}

// End ends the subsegment that Begin added to the context, and sends it.
func (t *Tracer) End(ctx context.Context, err error) {
	o, _ := ctx.Value(openKey{}).(*open)
	if o != nil {
		t.send(o, err)
	}
}

// send ends a subsegment and sends it.
func (t *Tracer) send(o *open, err error) {
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
