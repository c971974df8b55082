package stepback_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stepback"
)

// An error with a name that the Retry of the definition matches, and that still wraps the cause.
func ExampleErrorf() {
	errDown := errors.New("connection refused")
	err := stepback.Errorf("CardServiceBusy", "charging order %s: %w", "17", errDown)
	fmt.Println(err)
	fmt.Println(errors.Is(err, errDown), stepback.ErrorName(err))
	fmt.Println(stepback.ErrorName(errDown)) // without a name of its own
	// Output:
	// charging order 17: connection refused
	// true CardServiceBusy
	// errorString
}

// A definition with a misspelt function is refused before anything runs.
func ExampleEngine_Define() {
	app, err := stepback.New(context.Background(), stepback.Config{Functions: stepback.Functions{
		"charge": stepback.Func(func(context.Context, order) (receipt, error) { return receipt{}, nil }),
	}})
	if err != nil {
		panic(err)
	}
	defer app.Close()
	_, err = app.Define(stepback.Definition{Name: "Orders", Text: `{"StartAt": "Charge", "States": {"Charge": {
		"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:chrge", "End": true}}}`})
	fmt.Println(err)
	// Output:
	// state machine Orders calls functions that are not registered: state "Charge" calls "chrge" (did you mean "charge"?); registered: charge
}

// A failed execution continues after its cause is fixed. What succeeded is not repeated.
func ExampleRun_Redrive() {
	ctx := context.Background()
	open := false
	app, err := stepback.New(ctx, stepback.Config{Functions: stepback.Functions{
		"reserve": stepback.Func(func(context.Context, order) (order, error) {
			fmt.Println("reserved")
			return order{ID: "17"}, nil
		}),
		"charge": stepback.Func(func(context.Context, order) (receipt, error) {
			if !open {
				return receipt{}, stepback.Errorf("AccountClosed", "the merchant's account is closed")
			}
			return receipt{ID: "r-17"}, nil
		}),
	}})
	if err != nil {
		panic(err)
	}
	defer app.Close()
	orders, err := app.Define(stepback.Definition{Name: "Orders", Text: `{"StartAt": "Reserve", "States": {
		"Reserve": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:reserve", "Next": "Charge"},
		"Charge": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge", "End": true}}}`})
	if err != nil {
		panic(err)
	}
	run, err := orders.Start(ctx, "order-17", order{ID: "17"})
	if err != nil {
		panic(err)
	}
	x, err := run.Wait(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Status, x.Failure.Name)
	open = true
	if err := run.Redrive(ctx); err != nil {
		panic(err)
	}
	if x, err = run.Wait(ctx); err != nil {
		panic(err)
	}
	fmt.Println(x.Status, x.Output, "redrives:", x.Redrives)
	// Output:
	// reserved
	// FAILED AccountClosed
	// SUCCEEDED {"id":"r-17"} redrives: 1
}

// The executions of a state machine that failed with an error.
func ExampleEngine_List() {
	ctx := context.Background()
	app, err := stepback.New(ctx, stepback.Config{Functions: stepback.Functions{
		"charge": stepback.Func(func(_ context.Context, o order) (receipt, error) {
			if o.Cents > 1000 {
				return receipt{}, stepback.Errorf("Refused", "%d cents are too much", o.Cents)
			}
			return receipt{}, nil
		}),
	}})
	if err != nil {
		panic(err)
	}
	defer app.Close()
	orders, err := app.Define(stepback.Definition{Name: "Orders", Text: charge})
	if err != nil {
		panic(err)
	}
	for name, cents := range map[string]int{"order-17": 999, "order-18": 120_000} {
		run, err := orders.Start(ctx, name, order{Cents: cents})
		if err != nil {
			panic(err)
		}
		if _, err := run.Wait(ctx); err != nil {
			panic(err)
		}
	}
	for x, err := range app.List(ctx, stepback.Query{Machine: orders, Error: "Refused"}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(x.Name, x.Status)
	}
	// Output: order-18 FAILED
}

// A person approves an order: the function hands the task token to them, and the task waits until they answer.
func ExampleEngine_SendTaskSuccess() {
	ctx := context.Background()
	letters := make(chan string, 1)
	app, err := stepback.New(ctx, stepback.Config{Functions: stepback.Functions{
		"ask": stepback.Func(func(_ context.Context, in struct{ Token string }) (any, error) {
			letters <- in.Token
			return nil, nil
		}),
	}})
	if err != nil {
		panic(err)
	}
	defer app.Close()
	orders, err := app.Define(stepback.Definition{Name: "Orders", Text: `{"StartAt": "Ask", "States": {"Ask": {
		"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "End": true,
		"Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}}}}}`})
	if err != nil {
		panic(err)
	}
	run, err := orders.Start(ctx, "order-17", nil)
	if err != nil {
		panic(err)
	}
	if err := app.SendTaskSuccess(ctx, <-letters, map[string]string{"approvedBy": "ann"}); err != nil {
		panic(err)
	}
	var answer struct{ ApprovedBy string }
	if err := run.Output(ctx, &answer); err != nil {
		panic(err)
	}
	fmt.Println(answer.ApprovedBy)
	// Output: ann
}

// The Map Run of a distributed Map, which only the engine underneath shows.
func ExampleEngine_Core() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "stepback")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "inbox"), 0o750); err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "inbox", "ids.json"), []byte(`[1, 2, 3]`), 0o600); err != nil {
		panic(err)
	}
	files, err := stepback.OpenFiles(dir)
	if err != nil {
		panic(err)
	}
	defer files.Close()
	app, err := stepback.New(ctx, stepback.Config{Objects: files})
	if err != nil {
		panic(err)
	}
	defer app.Close()
	m, err := app.Define(stepback.Definition{Name: "Rows", Text: `{"StartAt": "Rows", "States": {"Rows": {
		"Type": "Map", "Label": "Rows", "End": true,
		"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON"},
			"Parameters": {"Bucket": "inbox", "Key": "ids.json"}},
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}}}}`})
	if err != nil {
		panic(err)
	}
	run, err := m.Start(ctx, "", nil)
	if err != nil {
		panic(err)
	}
	if _, err := run.Wait(ctx); err != nil {
		panic(err)
	}
	mapRuns, err := app.Core().MapRunsOf(ctx, run.ARN())
	if err != nil {
		panic(err)
	}
	for _, r := range mapRuns {
		fmt.Println(r.Status, r.Items.Succeeded, "items")
	}
	// Output: SUCCEEDED 3 items
}

// An execution that waits for a day is stopped after an hour.
func ExampleRun_Stop() {
	ctx := context.Background()
	clock := stepback.VirtualTime(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC))
	defer clock.Close()
	app, err := stepback.New(ctx, stepback.Config{Clock: clock})
	if err != nil {
		panic(err)
	}
	defer app.Close()
	m, err := app.Define(stepback.Definition{Name: "Wait", Text: `{"StartAt": "W", "States": {"W": {
		"Type": "Wait", "Seconds": 86400, "End": true}}}`})
	if err != nil {
		panic(err)
	}
	clock.Hold() // virtual time only passes while the clock is not held
	run, err := m.Start(ctx, "", nil)
	if err != nil {
		panic(err)
	}
	if err := clock.Sleep(ctx, time.Hour); err != nil {
		panic(err)
	}
	if err := run.Stop(ctx, stepback.Failure{Name: "Cancelled"}); err != nil {
		panic(err)
	}
	clock.Release()
	x, err := run.Wait(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Status, x.Failure.Name, "after", x.Stop.Sub(x.Start))
	// Output: ABORTED Cancelled after 1h0m0s
}
