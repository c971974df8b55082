// Command files is the Lambda function of the states ListFiles and SumFiles, which begin and end an import of many
// files as one.
//
// Environment: INPUT_BUCKET, the bucket of the files; STATE_MACHINE, the name of the state machine, for logs; and the
// AWS SDK's own variables.
package main

import (
	"context"
	"errors"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/aws/objects/sdkobjects"
	"stepback/csvimport/handlers"
	"stepback/csvimport/s3objects"
	"stepback/csvimport/xray"
)

func main() {
	log := handlers.Log()
	client, err := sdkobjects.ClientFromEnvironment(context.Background())
	bucket := os.Getenv("INPUT_BUCKET")
	if err == nil && bucket == "" {
		err = errors.New("INPUT_BUCKET is not set; set it to the name of the bucket of the files")
	}
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	// An invocation makes a request for each of up to 100,000 files. Unlike the other functions, this one retries
	// requests itself: the state's Retry would repeat all of them because of one.
	client = s3.New(client.Options(), func(o *s3.Options) { o.Retryer = retry.NewStandard() })
	objects := s3objects.New(sdkobjects.New(client))
	lambda.Start(handlers.Traced(&xray.Tracer{}, handlers.Files(objects, bucket, nil, log)))
}
