package aws

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"
)

// Trace is an X-Ray trace header, as sent in X-Amzn-Trace-Id:
// Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1.
type Trace struct {
	// Root is the ID of the trace. Parent is the ID of the segment that makes the request, and may be empty.
	Root, Parent string
	// Sampled is true if the trace is recorded; Undecided is true if the receiver of the request decides.
	Sampled, Undecided bool
}

// TraceHeader is the name of the request header that carries a Trace.
const TraceHeader = "X-Amzn-Trace-Id"

var (
	rootForm    = regexp.MustCompile(`^1-[0-9a-f]{8}-[0-9a-f]{24}$`)
	segmentForm = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// ParseTrace parses a trace header; ok is false if it contains no trace. Other fields are ignored.
func ParseTrace(header string) (t Trace, ok bool) {
	t.Undecided = true
	for part := range strings.SplitSeq(header, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Root":
			t.Root = value
		case "Parent":
			t.Parent = value
		case "Sampled":
			t.Sampled, t.Undecided = value == "1", value != "0" && value != "1"
		}
	}
	if !segmentForm.MatchString(t.Parent) {
		t.Parent = ""
	}
	return t, rootForm.MatchString(t.Root)
}

// String returns the header's text.
func (t Trace) String() string {
	text := "Root=" + t.Root
	if t.Parent != "" {
		text += ";Parent=" + t.Parent
	}
	switch {
	case t.Undecided:
		return text
	case t.Sampled:
		return text + ";Sampled=1"
	}
	return text + ";Sampled=0"
}

// Under returns the trace with segment as its parent, for the segment's own requests.
func (t Trace) Under(segment string) Trace {
	t.Parent = segment
	return t
}

// NewTrace returns a new trace that begins at a time.
func NewTrace(at time.Time, sampled bool) Trace {
	return Trace{Root: fmt.Sprintf("1-%08x-%s%s", uint32(at.Unix()), NewSegmentID(), NewSegmentID()[:8]), Sampled: sampled}
}

// NewSegmentID returns a random segment ID: 16 hexadecimal digits.
func NewSegmentID() string {
	const bytes = 8
	var b [bytes]byte
	for i, random := 0, rand.Uint64(); i < bytes; i, random = i+1, random>>bytes {
		b[i] = byte(random)
	}
	return hex.EncodeToString(b[:])
}

type traceKey struct{}

// WithTrace adds a trace to a context: requests with this context become part of the trace.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of a context; ok is false if it has none.
func TraceOf(ctx context.Context) (t Trace, ok bool) {
	t, ok = ctx.Value(traceKey{}).(Trace)
	return t, ok
}
