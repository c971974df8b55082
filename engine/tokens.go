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

// The errors of reports with a task token.
var (
	// ErrInvalidToken is returned if no execution has issued the token.
	ErrInvalidToken = errors.New("invalid token")
	// ErrNoTask is returned if the token's execution does not exist in this account and region.
	ErrNoTask = errors.New("task does not exist")
	// ErrTaskTimedOut is returned if the token's task has ended: it has been reported on, timed out or been given up.
	ErrTaskTimedOut = errors.New("task timed out: provided task does not exist anymore")
	// ErrOutput is returned if the output of a task is not JSON.
	ErrOutput = errors.New("invalid output")
)

// ExecutionOfToken returns the ARN of the execution that a task token names. ok is false if no execution can have
// issued the token. The execution need not exist, nor have issued this token.
func ExecutionOfToken(token string) (arn string, ok bool) {
	t, ok := interpreter.ParseToken(token)
	return t.Execution, ok
}

// SendTaskSuccess ends the token's task with a result in JSON text. It returns once that is durable. Its errors are
// ErrInvalidToken, ErrNoTask, ErrTaskTimedOut, ErrOutput, ErrClosed, that of the context, and those of the journal;
// after an error of the journal it is unknown whether the report counts.
func (e *Engine) SendTaskSuccess(ctx context.Context, token, output string) error {
	v, err := jsonvalue.Parse(output)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return e.reportBy(ctx, token, interpreter.Signal{Kind: interpreter.TaskSucceeded,
		Output: jsonvalue.ParsedDocument(output, v)}, err)
}

// SendTaskFailure fails the token's task. It returns once that is durable, with the errors of SendTaskSuccess except
// ErrOutput.
func (e *Engine) SendTaskFailure(ctx context.Context, token string, f history.Failure) error {
	return e.reportBy(ctx, token, interpreter.Signal{Kind: interpreter.TaskFailed, Failure: f}, nil)
}

// SendTaskHeartbeat restarts the HeartbeatSeconds of the token's task. It returns once that is durable, with the
// errors of SendTaskFailure.
func (e *Engine) SendTaskHeartbeat(ctx context.Context, token string) error {
	return e.reportBy(ctx, token, interpreter.Signal{Kind: interpreter.TaskHeartbeat}, nil)
}

// reportBy delivers a worker's report to the execution that issued the token. refusal, which may be nil, is the error
// for an invalid report; it is returned only if the token is valid.
func (e *Engine) reportBy(ctx context.Context, text string, ev interpreter.Signal, refusal error) error {
	token, ok := interpreter.ParseToken(text)
	if !ok {
		return ErrInvalidToken
	}
	r, err := e.find(ctx, token.Execution)
	if err != nil {
		return err
	}
	if r == nil {
		return e.notRunningError(ctx, token.Execution)
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

// notRunningError returns why an execution that is not running accepts no reports.
func (e *Engine) notRunningError(ctx context.Context, arn string) error {
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

// secretSize is the length in bytes of the secret for an execution's task tokens.
const secretSize = 16

// secret draws the secret from which an execution makes its task tokens. It is repeatable only if the engine was
// given a seed.
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
