package awssdk

import (
	"slices"
	"testing"
)

func TestErrorNames(t *testing.T) {
	t.Parallel()
	for integration, want := range map[string][]string{
		"sqs:sendMessage.waitForTaskToken": {"SQS.AmazonSQSException", "SQS.InvalidMessageContentsException", "SQS.SdkClientException"},
		"aws-sdk:sqs:sendMessage":          {"Sqs.InvalidMessageContentsException", "Sqs.SdkClientException", "Sqs.SqsException"},
		"aws-sdk:s3:headObject":            {"S3.NoSuchKeyException", "S3.S3Exception", "S3.SdkClientException"},
		"states:startExecution.sync:2":     {"StepFunctions.ExecutionAlreadyExistsException", "StepFunctions.SdkClientException"},
		"lambda:invoke":                    nil,
		"aws-sdk:nothing:here":             nil,
	} {
		got := ErrorNames(integration)
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s lacks %s: %v", integration, name, got)
			}
		}
		if want == nil && got != nil || !slices.IsSorted(got) {
			t.Errorf("%s has %v", integration, got)
		}
	}
}
