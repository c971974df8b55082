package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

// The errors of reporting by a task token.
var (
	// ErrInvalidToken says that no execution has handed the token out.
	ErrInvalidToken = errors.New("invalid token")
	// ErrNoTask says that the execution that the token names does not exist in this account and region.
	ErrNoTask = errors.New("task does not exist")
	// ErrTaskTimedOut says that the task of the token is over: it has been reported on, timed out or been given up.
	ErrTaskTimedOut = errors.New("task timed out: provided task does not exist anymore")
	// ErrOutput says that the output of a task is not JSON.
	ErrOutput = errors.New("invalid output")
)

// ExecutionOfToken is the ARN of the execution that a task token names; false for what no execution can have made. It
// does not say that the execution is there, or made it.
func ExecutionOfToken(token string) (arn string, ok bool) {
	t, ok := interpreter.ParseToken(token)
	return t.Execution, ok
}

// SendTaskSuccess ends the task of a token with a result, which is JSON text. It returns once that is durable. Its
// errors are ErrInvalidToken, ErrNoTask, ErrTaskTimedOut, ErrOutput, ErrClosed, that of the context, and those of the
// journal, after which it is unknown whether the report counts.
func (e *Engine) SendTaskSuccess(ctx context.Context, token, output string) error {
	v, err := jsonvalue.Parse(output)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return e.reportBy(ctx, token, interpreter.Signal{Kind: interpreter.TaskSucceeded,
		Output: jsonvalue.ParsedDocument(output, v)}, err)
}

// SendTaskFailure fails the task of a token. It returns once that is durable, with the errors of SendTaskSuccess but
// ErrOutput.
func (e *Engine) SendTaskFailure(ctx context.Context, token string, f history.Failure) error {
	return e.reportBy(ctx, token, interpreter.Signal{Kind: interpreter.TaskFailed, Failure: f}, nil)
}

// SendTaskHeartbeat begins the time of HeartbeatSeconds anew for the task of a token. It returns once that is durable,
// with the errors of SendTaskFailure.
func (e *Engine) SendTaskHeartbeat(ctx context.Context, token string) error {
	return e.reportBy(ctx, token, interpreter.Signal{Kind: interpreter.TaskHeartbeat}, nil)
}

// reportBy delivers what a worker reports to the execution that handed the token out. A refusal of the report, which
// may be nil, is for those alone whose token is good.
func (e *Engine) reportBy(ctx context.Context, text string, ev interpreter.Signal, refusal error) error {
	token, ok := interpreter.ParseToken(text)
	if !ok {
		return ErrInvalidToken
	}
	r := e.running(token.Execution)
	if r == nil {
		return e.gone(ctx, token.Execution)
	}
	ev.ID, ev.ByToken = token.ID, true
	return r.ask(ctx, ev, func(x *interpreter.Execution) error {
		switch {
		case !x.Made(token):
			return ErrInvalidToken
		case !x.Awaits(token.ID):
			return ErrTaskTimedOut
		}
		return refusal
	})
}

// gone says why an execution that is not under way takes no reports.
func (e *Engine) gone(ctx context.Context, arn string) error {
	if !strings.HasPrefix(arn, e.names.executions()) {
		return ErrNoTask
	}
	_, err := e.cfg.Journal.Execution(ctx, arn)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return ErrNoTask
	case err != nil:
		return err
	}
	return ErrTaskTimedOut
}

// secretSize is how long the secret of an execution's task tokens is, in bytes.
const secretSize = 16

// secret draws what an execution makes its task tokens with. Only an engine that was given a seed draws it repeatably.
func (e *Engine) secret() string {
	b := make([]byte, 0, secretSize)
	if e.repeatable {
		b = binary.BigEndian.AppendUint64(b, e.seeds.next())
		return string(binary.BigEndian.AppendUint64(b, e.seeds.next()))
	}
	b = b[:secretSize]
	_, _ = rand.Read(b) // never fails
	return string(b)
}
