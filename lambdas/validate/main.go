// Command validate is the Lambda function of the states ValidateCSVFile and ValidateRange.
//
// Environment: CSV_MAX_BYTES and CSV_PART_BYTES, see handlers.SizesFrom; BREAKER_TABLE and STATE_MACHINE, as for the
// function process; the AWS SDK's own variables.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"stepback/aws/objects/sdkobjects"
	"stepback/csvimport/circuitlog"
	"stepback/csvimport/handlers"
	"stepback/csvimport/importrows"
	"stepback/csvimport/s3objects"
	"stepback/csvimport/sharedguard"
	"stepback/csvimport/xray"
	"stepback/statemachine"
)

func main() {
	log := handlers.Log()
	store, err := sdkobjects.FromEnvironment(context.Background())
	exitOn(log, err)
	sizes, err := handlers.SizesFrom(os.Getenv)
	exitOn(log, err)
	guard, err := sharedguard.FromEnvironment(context.Background(), os.Getenv, circuitlog.Objects,
		statemachine.ValidateCSVFile, os.Stdout, log)
	exitOn(log, err)
	lambda.Start(handlers.Traced(&xray.Tracer{}, handlers.Guarded(guard, handlers.Validate(s3objects.New(store),
		&importrows.Enlister{Store: store}, sizes, log))))
}

func exitOn(log *slog.Logger, err error) {
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
}
