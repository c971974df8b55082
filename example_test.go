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

// charge is the definition of a state machine with one task.
const charge = `{"StartAt": "Charge", "States": {"Charge": {
	"Type": "Task",
	"Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge",
	"Retry": [{"ErrorEquals": ["CardServiceBusy"], "IntervalSeconds": 2, "MaxAttempts": 4, "BackoffRate": 2}],
	"End": true
}}}`

type order struct {
	ID    string `json:"id"`
	Cents int    `json:"cents"`
}

type receipt struct {
	ID string `json:"id"`
}

// A task implemented in Go.
func Example() {
	ctx := context.Background()
	app, err := stepback.New(ctx, stepback.Config{
		Functions: stepback.Functions{
			"charge": stepback.Func(func(_ context.Context, o order) (receipt, error) {
				return receipt{ID: "r-" + o.ID}, nil
			}),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer app.Close()
	orders, err := app.Define("Orders", charge)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := orders.Start(ctx, "order-17", order{ID: "17", Cents: 1200})
	if err != nil {
		fmt.Println(err)
		return
	}
	var r receipt
	if err := run.Output(ctx, &r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.ID)
	// Output: r-17
}

// Retries in virtual time: fourteen seconds pass on the engine's clock, none in real time.
func Example_retry() {
	ctx := context.Background()
	clock := stepback.VirtualTime(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC))
	defer clock.Close()
	busy := 3
	app, err := stepback.New(ctx, stepback.Config{
		Clock: clock,
		Functions: stepback.Functions{
			"charge": stepback.Func(func(context.Context, order) (receipt, error) {
				if busy--; busy >= 0 {
					return receipt{}, &stepback.Failure{Name: "CardServiceBusy", Cause: "try again"}
				}
				return receipt{ID: "r-17"}, nil
			}),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer app.Close()
	orders, err := app.Define("Orders", charge)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := orders.Start(ctx, "order-17", order{ID: "17"})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := run.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.Status, "after", x.Stop.Sub(x.Start))
	events, err := run.History(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range events {
		if e.More != nil && e.More.Failure.Name != "" {
			fmt.Println(e.At().Format(time.TimeOnly), e.Type, e.More.Failure.Name)
		}
	}
	// Output:
	// SUCCEEDED after 14s
	// 09:00:00 LambdaFunctionFailed CardServiceBusy
	// 09:00:02 LambdaFunctionFailed CardServiceBusy
	// 09:00:06 LambdaFunctionFailed CardServiceBusy
}

// A program dies in the middle of a task, and the next one resumes it.
func Example_recovery() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "stepback")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	begun := make(chan struct{})
	first, err := stepback.New(ctx, stepback.Config{Dir: dir, Functions: stepback.Functions{
		"charge": stepback.Func(func(ctx context.Context, _ order) (receipt, error) {
			close(begun)
			<-ctx.Done() // the program ends before the card service answers
			return receipt{}, ctx.Err()
		}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	orders, err := first.Define("Orders", charge)
	if err == nil {
		_, err = orders.Start(ctx, "order-17", order{ID: "17"})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	<-begun
	if err := first.Close(); err != nil {
		fmt.Println(err)
		return
	}

	second, err := stepback.New(ctx, stepback.Config{Dir: dir, Functions: stepback.Functions{
		"charge": stepback.Func(func(_ context.Context, o order) (receipt, error) {
			return receipt{ID: "r-" + o.ID},
				nil
		}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer second.Close()
	if orders, err = second.Define("Orders", charge); err != nil {
		fmt.Println(err)
		return
	}
	var r receipt
	if err := orders.Find("order-17").Output(ctx, &r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.ID)
	// Output: r-17
}

// A distributed Map over the rows of a CSV file, in batches of two.
func Example_distributedMap() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "stepback")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "inbox"), 0o750); err != nil {
		fmt.Println(err)
		return
	}
	const rows = "user,points\nann,3\nbob,5\ncy,7\n"
	if err := os.WriteFile(filepath.Join(dir, "inbox", "users.csv"), []byte(rows), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	files, err := stepback.OpenFiles(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer files.Close()
	type batch struct {
		Items []struct{ User, Points string }
	}
	app, err := stepback.New(ctx, stepback.Config{
		Objects: files,
		Functions: stepback.Functions{
			"award": stepback.Func(func(_ context.Context, b batch) (int, error) { return len(b.Items), nil }),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer app.Close()
	award, err := app.Define("Award", `{"StartAt": "Rows", "States": {"Rows": {
		"Type": "Map", "Label": "Rows", "End": true,
		"ItemReader": {
			"Resource": "arn:aws:states:::s3:getObject",
			"ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"},
			"Parameters": {"Bucket": "inbox", "Key": "users.csv"}
		},
		"ItemBatcher": {"MaxItemsPerBatch": 2},
		"ItemProcessor": {
			"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			"StartAt": "Award", "States": {"Award": {
				"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:award", "End": true
			}}
		}
	}}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := award.Start(ctx, "", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var awarded []int
	if err := run.Output(ctx, &awarded); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(awarded)
	// Output: [2 1]
}

// Reads a definition from a file, and shows the diagnostics for one with a mistake.
func ExampleReadDefinition() {
	dir, err := os.MkdirTemp("", "stepback")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "orders.asl.yaml")
	const text = `StartAt: Charge
States:
  Charge:
    Type: Task
    Resource: ${ChargeArn}
    End: true
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	_, err = stepback.ReadDefinition(file, nil)
	fmt.Println(filepath.Base(err.Error()))
	definition, err := stepback.ReadDefinition(file, map[string]string{
		"ChargeArn": "arn:aws:lambda:us-east-1:000000000000:function:charge",
	})
	fmt.Println(len(definition) > 0, err)
	// Output:
	// orders.asl.yaml: no value for the placeholders ChargeArn
	// true <nil>
}

// A failed execution is an error that says why it failed.
func ExampleRun_Output() {
	ctx := context.Background()
	app, err := stepback.New(ctx, stepback.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer app.Close()
	m, err := app.Define("Refused", `{"StartAt": "F", "States": {"F": {
		"Type": "Fail", "Error": "CardRefused", "Cause": "no money"}}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := m.Start(ctx, "x", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var failure *stepback.Failure
	if errors.As(run.Output(ctx, nil), &failure) {
		fmt.Println(failure.Name, "because of", failure.Cause)
	}
	// Output: CardRefused because of no money
}
