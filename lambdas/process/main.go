// Command process is the Lambda function of the state ProcessSingleUserRecord.
//
// Environment: DATABASE_URL (sqlite:/path/file.db or postgres://…).
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"stepback/csvimport/database"
	"stepback/csvimport/handlers"
)

func main() {
	store := database.NewLazy(os.Getenv("DATABASE_URL"))
	lambda.Start(handlers.Process(store, handlers.Log()))
}
