package local

import (
	"context"
	"net/http"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions"
	"stepback/tasks/faults"
	"stepback/tasks/lambda"
)

// TestState returns a handler for Step Functions that is sufficient for the operation TestState. It needs no data
// directory and no other services. Tasks call services at the endpoints in the environment variables that getenv
// reads. done closes it.
func TestState(_ context.Context, getenv func(string) string) (_ http.Handler, done func(), err error) {
	scope := aws.Scope{Account: DefaultAccount, Region: DefaultRegion}
	c := clock.Real()
	around := newSurroundings(getenv, nil)
	var e *engine.Engine
	e, err = engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(), Region: scope.Region, Account: scope.Account,
		Integrations: around.integrations(scope, faults.New(0, nil, nil),
			lambda.Endpoint{URL: getenv("LAMBDA_ENDPOINT")}, c, func(ctx context.Context, _ *engine.Task,
				arn string) error {
				return e.Await(ctx, arn)
			}),
	})
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	h := stepfunctions.New(stepfunctions.Config{
		Open: func(aws.Scope) (*engine.Engine, error) { return e, nil }, Store: stepfunctions.NewMemory(),
		Now: c.Now, Default: scope,
	}).Handler()
	return h, func() {
		e.Close()
		c.Close()
	}, nil
}
