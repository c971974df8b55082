package stepfunctions_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions"
	"stepback/local/services/stepfunctions/wiretest"
)

// refusing is a journal whose disk accepts no writes.
type refusing struct {
	journal.Journal
	err error
}

func (r refusing) Commit(_ *journal.Record, done func(error)) { done(r.err) }

func TestDisksThatTakeNothing(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		journal.ErrDiskFull: `{"__type":"ServiceUnavailable","message":"The disk of the data directory is full; make room.`,
		journal.ErrBroken:   `{"__type":"ServiceUnavailable","message":"The disk of the data directory refused a write.`,
		context.Canceled:    `{"__type":"ServiceUnavailable","message":"The server is shutting down."}`,
		journal.ErrClosed:   `{"__type":"ServiceUnavailable","message":"The server is shutting down."}`,
	} {
		t.Run(err.Error(), func(t *testing.T) {
			t.Parallel()
			c := clock.Real()
			e, failure := engine.New(engine.Config{Clock: c, Journal: refusing{journal.NewMemory(), err},
				Account: wiretest.Scope.Account})
			if failure != nil {
				t.Fatal(failure)
			}
			service := stepfunctions.New(stepfunctions.Config{
				Open:  func(aws.Scope) (*engine.Engine, error) { return e, nil },
				Store: stepfunctions.NewMemory(), Now: c.Now, Default: wiretest.Scope,
			})
			server := httptest.NewServer(service.Handler())
			defer func() { server.Close(); e.Close(); c.Close() }()
			w := wiretest.Wire{URL: server.URL}
			machine := w.Machine(t, "m", wiretest.Pass)
			if status, got := w.Post(t, "StartExecution", `{"stateMachineArn":"`+machine+`"}`); status != 503 ||
				!strings.HasPrefix(got, want) {
				t.Errorf("%d %s, want %s", status, got, want)
			}
		})
	}
}
