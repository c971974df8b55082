package outbox

import "context"

// Sink is where messages go.
type Sink interface {
	// Send delivers one message, and returns nil once the receiver has it for good. It must return when the context
	// ends. It may be called from many goroutines. How an error is treated is said at [FailureOf]. The message must not
	// be changed or kept.
	Send(ctx context.Context, m *Message) error
}

// BatchSink is a Sink that takes several messages at once.
type BatchSink interface {
	Sink
	// SendBatch delivers messages of different keys or none, and returns the error of each, or nil where all were
	// delivered.
	SendBatch(ctx context.Context, all []*Message) []error
	// BatchLimits is how many messages, and how many bytes of payloads and headers, one call may have.
	BatchLimits() (messages, bytes int)
}

// SinkFunc is a Sink that is a function.
type SinkFunc func(ctx context.Context, m *Message) error

// Send implements Sink.
func (f SinkFunc) Send(ctx context.Context, m *Message) error { return f(ctx, m) }
