package outbox

import "context"

// Sink delivers messages.
type Sink interface {
	// Send delivers one message, and returns nil once the receiver has durably accepted it. It must return when the
	// context ends. It may be called from many goroutines. [FailureOf] describes how errors are treated. The message
	// must not be changed or retained.
	Send(ctx context.Context, m *Message) error
}

// BatchSink is a Sink that accepts several messages in one call.
type BatchSink interface {
	Sink
	// SendBatch delivers messages that have different keys or none. It returns one error for each message, or nil
	// if all were delivered.
	SendBatch(ctx context.Context, all []*Message) []error
	// BatchLimits returns the limits of one call: the maximum number of messages, and the maximum number of bytes
	// of their payloads and headers.
	BatchLimits() (messages, bytes int)
}

// SinkFunc is a function that implements Sink.
type SinkFunc func(ctx context.Context, m *Message) error

// Send implements Sink.
func (f SinkFunc) Send(ctx context.Context, m *Message) error { return f(ctx, m) }
