// Command start is the Lambda function that receives S3 "Object Created" events through EventBridge and starts the
// import of the object. An EventBridge rule could start the execution itself but cannot name it, and the name
// prevents a repeated event from starting a second import.
//
// A manifest of many files starts an execution of another state machine, which imports them as one.
//
// Environment: STATE_MACHINE_ARN; FILES_STATE_MACHINE_ARN, the state machine of many files; if it is empty, manifests
// are refused; and the AWS SDK's own variables.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"stepback/csvimport/handlers"
	"stepback/csvimport/sfnexecutions"
)

func main() {
	log := handlers.Log()
	executions, err := sfnexecutions.FromEnvironment(context.Background(), os.Getenv("STATE_MACHINE_ARN"))
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	var manyFiles handlers.Executions
	if arn := os.Getenv("FILES_STATE_MACHINE_ARN"); arn != "" {
		if manyFiles, err = sfnexecutions.FromEnvironment(context.Background(), arn); err != nil {
			log.Error("cannot start", "error", err.Error())
			os.Exit(1)
		}
	}
	lambda.Start(handlers.Start(executions, manyFiles, log))
}
