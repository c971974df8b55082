package stepfunctions_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/engine"
	"stepback/local/conformance"
	"stepback/local/services/stepfunctions/wiretest"
	"stepback/tasks/awssdk"
)

// motoServices maps the services that recordings need besides Step Functions to their names in aws-sdk Resources.
var motoServices = map[string]string{
	"dynamodb": "dynamodb", "events": "eventbridge", "s3": "s3", "secretsmanager": "secretsmanager", "sns": "sns",
	"sqs": "sqs",
}

// upload puts an object with the headers that S3 sets itself and moto does not.
func (w *world) upload(ctx context.Context, params map[string]any) error {
	client := s3.New(s3.Options{
		BaseEndpoint: &w.moto, Region: wiretest.Scope.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	bucket, key, body := params["Bucket"].(string), params["Key"].(string), params["Body"].(string)
	_, err := client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: strings.NewReader(body), ContentType: aws.String("binary/octet-stream"),
		ServerSideEncryption: types.ServerSideEncryptionAes256,
	})
	return err
}

// around calls the other services for the steps of a case that prepare it.
func (w *world) around(ctx context.Context, s *conformance.Step, params map[string]any) (*conformance.Answer,
	map[string]any, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, nil, err
	}
	result, err := awssdk.Integration{Caller: w.caller}.Invoke(ctx, &engine.Task{
		Service: "aws-sdk:" + motoServices[s.Service], Action: strings.ToLower(s.Op[:1]) + s.Op[1:],
		Pattern:    engine.RequestResponse,
		Parameters: string(text),
	})
	if err != nil {
		return nil, nil, err
	}
	return conformance.Reply(http.StatusOK, []byte(result.Text()))
}
