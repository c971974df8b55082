package partition_test

import (
	"fmt"
	"testing"

	"stepback/aws/partition"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for region, want := range map[string]string{
		"us-east-1": "aws", "us-west-2": "aws", "cn-north-1": "aws-cn", "cn-northwest-1": "aws-cn",
		"us-gov-west-1": "aws-us-gov",
		"us-gov-east-1": "aws-us-gov", "us-iso-west-1": "aws-iso", "us-isob-east-1": "aws-iso-b",
		"eu-isoe-west-1":  "aws-iso-e",
		"us-isof-south-1": "aws-iso-f", "eusc-de-east-1": "aws-eusc", "ca-central-1": "aws", "": "aws",
		"nowhere": "aws",
	} {
		if got := partition.Of(region); got != want {
			t.Errorf("Of(%q) = %q, want %q", region, got, want)
		}
	}
}

func ExampleOf() {
	fmt.Println("arn:" + partition.Of("cn-north-1") + ":states:cn-north-1:123456789012:stateMachine:orders")
	// Output: arn:aws-cn:states:cn-north-1:123456789012:stateMachine:orders
}
