// Package stepback runs AWS Step Functions state machines inside a Go program: definitions in Amazon States Language,
// tasks in Go, retries, timeouts, parallel branches, distributed Maps, and executions that survive a crash. It needs
// no account, no server and no container. The same definitions run on AWS.
//
// # Functions
//
// A task is a Go function. In a definition it is a Lambda function with the same name:
//
//	type Order struct{ ID string; Cents int }
//	type Receipt struct{ ID string }
//
//	func charge(ctx context.Context, o Order) (Receipt, error) {
//		if busy() {
//			return Receipt{}, stepback.Errorf("CardServiceBusy", "charging order %s: %w", o.ID, errBusy)
//		}
//		return Receipt{ID: "r-" + o.ID}, nil
//	}
//
// An error fails the task. Errorf gives it a name that the definition's retriers and catchers match. Config.ErrorName
// names the errors of other packages.
//
// # An engine
//
// New makes an engine of functions:
//
//	app, err := stepback.New(ctx, stepback.Config{
//		Functions: stepback.Functions{"charge": stepback.Func(charge)},
//	})
//	if err != nil { … }
//	defer app.Close()
//
// It keeps executions in memory. To keep them in a data directory, import stepback/engine/journal/pebble and add
//
//	Dir: "data", Journal: pebble.OpenDir,
//
// to the Config. Executions are then on the disk before any of their tasks runs, and New resumes the executions that
// were running when an earlier process was killed. The journal is a separate import because it links a database with
// some thirty modules; without it a program links four small ones.
//
// # A state machine
//
// A definition says in which order tasks run and what happens if they fail:
//
//	orders, err := app.Define(stepback.Definition{Name: "Orders", Text: `{
//	  "StartAt": "Charge",
//	  "States": {"Charge": {
//	    "Type": "Task",
//	    "Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge",
//	    "Retry": [{"ErrorEquals": ["CardServiceBusy"], "IntervalSeconds": 2, "MaxAttempts": 4, "BackoffRate": 2}],
//	    "End": true
//	  }}
//	}`})
//
// ReadDefinition reads one from a JSON or YAML file. Mistakes are reported with their line and how to fix them.
// Define also refuses a definition that calls a function which is not in Config.Functions.
//
// # Executions
//
// Start returns once the execution is stored; Output waits for its result:
//
//	run, err := orders.Start(ctx, "order-17", Order{ID: "17", Cents: 1200})
//	if err != nil { … }
//	var r Receipt
//	if err := run.Output(ctx, &r); err != nil { … } // a *stepback.Failure when the execution failed
//
// The name identifies the execution: starting order-17 twice with the same input starts it once. Describe and History
// return its state and its events, Stop ends it, and Redrive continues one that failed. Engine.List finds executions by
// state machine, status, error or a pending retry. Engine.SendTaskSuccess, SendTaskFailure and SendTaskHeartbeat report
// on tasks that wait for a task token.
//
// # Data
//
// A distributed Map reads its items from an object store and starts a child execution for each item, or for each
// batch. Files is an object store in a folder; others implement engine.Objects.
//
// # Tests
//
// Package stepbacktest runs a definition in a test, in virtual time: a Retry that waits for an hour takes no time.
//
// # Other packages
//
// Config.Integrations routes tasks of other services to your code, or to package tasks/awssdk, which calls AWS.
// Package engine, on which this one is built, also has activities, Map Runs and their limits, and tests of single
// states; Engine.Core returns it. Package local is the whole platform of the command stepback: the APIs of Step
// Functions, Lambda, S3 and others over HTTP, with injected faults and retry metrics. Package retry has policies
// and classifies errors, retrypatterns computes retry tables, and retrymetrics counts the outcomes of retries.
//
// This package never talks to AWS and never listens on the network.
package stepback
