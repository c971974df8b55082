package engine_test

import (
	"context"
	"errors"
	"testing"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// requests returns an engine whose token tasks pass on their token and whose requests are answered when the test says
// so.
func requests(t *testing.T, j journal.Journal, answers <-chan error) (e *engine.Engine, tokens chan string) {
	t.Helper()
	tokens = make(chan string, 10)
	e, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: j,
		Integrations: map[string]engine.Integration{
			"test:call": invoke(func(ctx context.Context, task *engine.Task) (string, error) {
				v, err := task.Value()
				if err != nil {
					return "", err
				}
				token, _ := v.Get("token")
				tokens <- token.Text()
				select {
				case err := <-answers:
					return `{}`, err
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, tokens
}

// TestAReportThatOvertakesItsRequestIsKept reports with a token before the request that carries it is answered, as a
// function that reports its own result does. The history of the execution does not show the report yet, but the
// worker has the answer that it counts.
func TestAReportThatOvertakesItsRequestIsKept(t *testing.T) {
	t.Parallel()
	kept, answers := journal.NewMemory(), make(chan error, 1)
	before, tokens := requests(t, kept, answers)
	arn := begin(t, before, `{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}}`, `{}`)
	token := <-tokens
	if err := before.SendTaskSuccess(t.Context(), token, `1`); err != nil {
		t.Fatal(err)
	}
	before.Close()
	after, tokens := requests(t, kept, answers)
	if found, err := after.Recover(t.Context()); err != nil || len(found.Executions) != 1 || len(found.Left) != 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	if again := <-tokens; again != token {
		t.Errorf("the request is made again with another token")
	}
	if err := after.SendTaskSuccess(t.Context(), token, `2`); !errors.Is(err, engine.ErrTaskTimedOut) {
		t.Errorf("a second report: %v", err)
	}
	answers <- nil
	if x, err := after.Wait(t.Context(), arn); err != nil || x.Status != history.Succeeded || x.Output != `1` {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestRedriveBehindAReportThatOvertookItsRequest replays such a report for a redrive.
func TestRedriveBehindAReportThatOvertookItsRequest(t *testing.T) {
	t.Parallel()
	answers := make(chan error)
	e, tokens := requests(t, journal.NewMemory(), answers)
	arn := begin(t, e, `{"StartAt":"T","States":{"T":{`+callback+`,"Next":"U"},"U":{`+callback+`,"End":true}}}`, `{}`)
	if err := e.SendTaskSuccess(t.Context(), <-tokens, `1`); err != nil {
		t.Fatal(err)
	}
	answers <- nil
	if err := e.SendTaskFailure(t.Context(), <-tokens, history.Named("Boom")); err != nil {
		t.Fatal(err)
	}
	answers <- nil
	if x, err := e.Wait(t.Context(), arn); err != nil || x.Failure.Name != "Boom" {
		t.Fatalf("%+v, %v", x, err)
	}
	if _, err := e.RedriveExecution(t.Context(), arn, ""); err != nil {
		t.Fatal(err)
	}
	if err := e.SendTaskSuccess(t.Context(), <-tokens, `2`); err != nil {
		t.Fatal(err)
	}
	answers <- nil
	if x, err := e.Wait(t.Context(), arn); err != nil || x.Status != history.Succeeded || x.Output != `2` {
		t.Errorf("%+v, %v", x, err)
	}
}
