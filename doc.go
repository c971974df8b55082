// Package stepback runs AWS Step Functions state machines inside a Go program: definitions in Amazon States Language,
// tasks in Go, retries, timeouts, parallel branches, distributed Maps, and executions that outlive a crash. It needs no
// account, no server and no container. What it runs, AWS runs too.
//
// # Functions
//
// A task is a Go function. In a definition it is a Lambda function, by its name:
//
//	type Order struct{ ID string; Cents int }
//	type Receipt struct{ ID string }
//
//	func charge(ctx context.Context, o Order) (Receipt, error) {
//		if busy() {
//			return Receipt{}, &stepback.Failure{Name: "CardServiceBusy", Cause: "try again"}
//		}
//		return Receipt{ID: "r-" + o.ID}, nil
//	}
//
// A failed function fails its task, by the name that retriers and catchers match.
//
// # An engine
//
// New makes an engine of functions. With a data directory its executions are on the disk before any task of theirs is
// carried out:
//
//	app, err := stepback.New(ctx, stepback.Config{
//		Dir:       "data",
//		Functions: stepback.Functions{"charge": stepback.Func(charge)},
//	})
//	if err != nil { … }
//	defer app.Close()
//
// When the program before this one was killed, New goes on with what it had under way.
//
// # A state machine
//
// A definition says in which order things happen and what happens when they fail:
//
//	orders, err := app.Define("Orders", `{
//	  "StartAt": "Charge",
//	  "States": {"Charge": {
//	    "Type": "Task",
//	    "Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge",
//	    "Retry": [{"ErrorEquals": ["CardServiceBusy"], "IntervalSeconds": 2, "MaxAttempts": 4, "BackoffRate": 2}],
//	    "End": true
//	  }}
//	}`)
//
// ReadDefinition takes one from a file, in JSON or YAML. A mistake is reported with its line and what would be right.
//
// # Executions
//
// Start returns when the execution is kept; Output waits for what comes of it:
//
//	run, err := orders.Start(ctx, "order-17", Order{ID: "17", Cents: 1200})
//	if err != nil { … }
//	var r Receipt
//	if err := run.Output(ctx, &r); err != nil { … } // a *stepback.Failure when the execution failed
//
// The name is the execution's own: starting order-17 twice with the same input starts it once. History tells, event by
// event, what happened.
//
// # Data
//
// A distributed Map reads its items from an object store and starts a child execution for each, or for each batch of
// them. Files is one over a folder; engine.Objects is what any other implements.
//
// # Tests
//
// Package stepbacktest runs a definition in a test, in virtual time: a Retry that waits for an hour takes none.
//
// # And more
//
// Package engine, underneath, has what this one has no word for: activities and task tokens, Map Runs and redrives,
// integrations with the services of AWS. Package local is the whole platform of the command stepback: the APIs of Step
// Functions, Lambda, S3 and others over HTTP, with injected faults and retry metrics. Package retry has
// policies and classifies errors, retrypatterns computes retry tables, retrymetrics counts what came of them.
//
// This package never talks to AWS and never listens on the network.
package stepback
