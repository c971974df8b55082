// Command process is the Lambda function of the state ProcessSingleUserRecord.
//
// Environment: DATABASE_URL (sqlite:/path/file.db or postgres://…); BREAKER_TABLE, the DynamoDB table through which
// all functions share the database's circuit breaker and limiter; without it nothing is refused; STATE_MACHINE, the
// state machine's name, under which the breaker's state is published; WAIT_LIMIT, the time after the import's start
// from which no row waits for the database.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"stepback/csvimport/circuitlog"
	"stepback/csvimport/database"
	"stepback/csvimport/handlers"
	"stepback/csvimport/sharedguard"
	"stepback/csvimport/xray"
	"stepback/statemachine"
)

func main() {
	log := handlers.Log()
	guard, err := sharedguard.FromEnvironment(context.Background(), os.Getenv, circuitlog.Database,
		statemachine.ProcessSingleUserRecord, os.Stdout, log)
	var waiting handlers.Waiting
	if err == nil {
		waiting, err = handlers.WaitingFrom(os.Getenv)
	}
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	store := database.NewLazy(os.Getenv("DATABASE_URL"))
	process := waiting.Limited(handlers.Guarded(guard, handlers.Process(store, log)))
	lambda.Start(handlers.Traced(&xray.Tracer{}, process))
}
