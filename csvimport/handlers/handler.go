package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"stepback/csvimport"
	"stepback/retry"
)

// Func is a Lambda handler function. It decodes the event itself, so that a malformed event is InvalidInput instead
// of the type name of some decoder's error. Its errors are messages.InvokeResponse_Error values, whose Type is the
// error name that Step Functions sees.
//
// A Func is a lambda.Handler, so that the runtime passes it the event's raw bytes instead of decoding them twice.
type Func[Output any] func(ctx context.Context, event json.RawMessage) (Output, error)

// Invoke implements lambda.Handler.
func (f Func[Output]) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	out, err := f(ctx, event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// wrap turns a step into a Func. A nil log writes nothing.
func wrap[Input, Output any](name string, log *slog.Logger, step func(context.Context, Input) (Output, error),
	attrs func(Input, Output) []slog.Attr) Func[Output] {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return func(ctx context.Context, event json.RawMessage) (Output, error) {
		begin := time.Now()
		var in Input
		var out Output
		err := decode(event, &in)
		if err == nil {
			within, cancel := early(ctx)
			out, err = step(within, in)
			cancel()
		}
		level := slog.LevelInfo
		if err != nil {
			level = slog.LevelError
		}
		if log.Enabled(ctx, level) {
			all := append(attrs(in, out), slog.String("step", name), slog.Duration("took", time.Since(begin)))
			all = append(all, origin(ctx, in)...)
			message := "done"
			if err != nil {
				f := csvimport.AsFailure(err)
				all = append(all, slog.String("error", f.Name), slog.String("cause", f.Message))
				message = "failed"
			}
			log.LogAttrs(ctx, level, message, all...)
		}
		if err != nil {
			var none Output
			return none, encode(err)
		}
		return out, nil
	}
}

// margin is the time before the end of its invocation at which a step has to end, so that the state machine sees the
// step's named error and not Lambda's. It is one second, or a tenth of the remaining time if that is less.
const margin = time.Second

func early(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(margin, time.Until(deadline)/10)))
}

// textReader is an input that can parse events in their usual form: UTF-8 without any backslash.
type textReader interface {
	ReadText(event string) bool
}

// quick parses an event if its input is a textReader and the event contains nothing that JSON parsers could
// interpret differently. It reports whether it has parsed the event.
func quick(event []byte, in any) bool {
	r, ok := in.(textReader)
	return ok && bytes.IndexByte(event, '\\') < 0 && utf8.Valid(event) && r.ReadText(string(event))
}

// decode parses an event, or fails with InvalidInput and the position of the error.
func decode[Input any](event json.RawMessage, in *Input) error {
	if quick(event, in) {
		return nil
	}
	*in = *new(Input)
	err := json.Unmarshal(event, in)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return csvimport.Fail(retry.InvalidInput, "the event's %s is a %s, expected %s (byte %d)", kind.Field,
			kind.Value, kind.Type, kind.Offset)
	case errors.As(err, &syntax):
		return csvimport.Fail(retry.InvalidInput, "the event is not JSON: %v (byte %d)", err, syntax.Offset)
	}
	return csvimport.Fail(retry.InvalidInput, "the event cannot be read: %w", err)
}

// encode converts an error to the type whose name Lambda passes on to Step Functions.
func encode(err error) error {
	f := csvimport.AsFailure(err)
	return messages.InvokeResponse_Error{Type: f.Name, Message: f.Message}
}
