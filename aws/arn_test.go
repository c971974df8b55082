package aws_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"stepback/aws"
)

func TestPartition(t *testing.T) {
	t.Parallel()
	for region, want := range map[string]string{
		"us-east-1": "aws", "us-west-2": "aws", "cn-north-1": "aws-cn", "cn-northwest-1": "aws-cn",
		"us-gov-west-1": "aws-us-gov", "us-gov-east-1": "aws-us-gov", "us-iso-west-1": "aws-iso",
		"us-isob-east-1": "aws-iso-b", "eu-isoe-west-1": "aws-iso-e", "us-isof-south-1": "aws-iso-f",
		"eusc-de-east-1": "aws-eusc", "ca-central-1": "aws", "": "aws", "nowhere": "aws",
	} {
		if got := aws.Partition(region); got != want {
			t.Errorf("Partition(%q) = %q, want %q", region, got, want)
		}
	}
}

func ExampleScope_ARN() {
	s := aws.Scope{Account: "123456789012", Region: "cn-north-1"}
	fmt.Println(s.ARN("states", "stateMachine:orders"))
	fmt.Println(s.GlobalARN("iam", "role/orders"))
	fmt.Println(s.BucketARN("uploads"))
	// Output:
	// arn:aws-cn:states:cn-north-1:123456789012:stateMachine:orders
	// arn:aws-cn:iam::123456789012:role/orders
	// arn:aws-cn:s3:::uploads
}

func ExampleParseARN() {
	a, ok := aws.ParseARN("arn:aws:logs:eu-west-1:123456789012:log-group:/aws/lambda/resize:*")
	fmt.Println(ok, a.Service, a.Scope().Region, a.Resource)
	// Output: true logs eu-west-1 log-group:/aws/lambda/resize:*
}

func TestParseARN(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]aws.ARN{
		"arn:aws:s3:::b/k": {Partition: "aws", Service: "s3", Resource: "b/k"},
		"arn:aws:iam::123456789012:root": {Partition: "aws", Service: "iam", Account: "123456789012",
			Resource: "root"},
		"arn:a:b:c:d:":                   {Partition: "a", Service: "b", Region: "c", Account: "d"},
		"arn:aws:states:::lambda:invoke": {Partition: "aws", Service: "states", Resource: "lambda:invoke"},
		"arn::::::":                      {Resource: ":"},
		"arn:aws:sns:us-east-1:1:a:b:c:d": {Partition: "aws", Service: "sns", Region: "us-east-1", Account: "1",
			Resource: "a:b:c:d"},
	} {
		if got, ok := aws.ParseARN(text); !ok || got != want || got.String() != text {
			t.Errorf("%s: %+v %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "arn", "arn:", "arn:aws:sns:us-east-1:1", "ARN:aws:sns:us-east-1:1:t", "a"} {
		if got, ok := aws.ParseARN(text); ok || got != (aws.ARN{}) {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// Printing a parsed ARN gives the original text.
func TestParsedARNsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`arn(:[a-z0-9-]{0,4}){3,8}`).Draw(t, "text")
		if a, ok := aws.ParseARN(text); ok && a.String() != text {
			t.Errorf("%q became %q", text, a)
		}
	})
}
