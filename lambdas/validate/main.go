// Command validate is the Lambda function of the state ValidateCSVFile.
//
// Environment: CSV_MAX_BYTES and the AWS SDK's own variables.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"stepback/csvimport/handlers"
	"stepback/csvimport/s3objects"
)

func main() {
	log := handlers.Log()
	objects, err := s3objects.FromEnvironment(context.Background())
	exitOn(log, err)
	maxBytes, err := handlers.MaxBytes()
	exitOn(log, err)
	lambda.Start(handlers.Validate(objects, maxBytes, log))
}

func exitOn(log *slog.Logger, err error) {
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
}
