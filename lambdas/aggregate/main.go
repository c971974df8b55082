// Command aggregate is the Lambda function of the state AggregateResults.
//
// Environment: DATABASE_URL (sqlite:/path/file.db or postgres://…) and the AWS SDK's own variables; STATE_MACHINE,
// the state machine's name, under which the rows and the breaker's state are published as metrics; if it is empty,
// they are not published; BREAKER_TABLE, as for the function process.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"stepback/aws/objects/sdkobjects"
	"stepback/csvimport/circuitlog"
	"stepback/csvimport/database"
	"stepback/csvimport/handlers"
	"stepback/csvimport/s3objects"
	"stepback/csvimport/sharedguard"
	"stepback/csvimport/xray"
	"stepback/statemachine"
)

func main() {
	log := handlers.Log()
	objects, err := sdkobjects.FromEnvironment(context.Background())
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	guard, err := sharedguard.FromEnvironment(context.Background(), os.Getenv, circuitlog.Database,
		statemachine.AggregateResults,
		os.Stdout, log)
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	store := database.NewLazy(os.Getenv("DATABASE_URL"))
	aggregate := handlers.Traced(&xray.Tracer{},
		handlers.Guarded(guard, handlers.Aggregate(s3objects.New(objects), store, nil, log)))
	lambda.Start(published(aggregate, os.Getenv("STATE_MACHINE"), os.Stdout))
}
