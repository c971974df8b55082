package responses_test

import (
	"fmt"
	"testing"

	"stepback/jsonvalue"
	"stepback/tasks/awssdk/responses"
)

func ExampleResponse_Check() {
	result, err := responses.Of("sfn", "startExecution")
	if err != nil {
		fmt.Println(err)
		return
	}
	mock, err := jsonvalue.Parse(`{"executionArn": "arn:aws:states:us-east-1:123456789012:execution:machine:name"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Check(mock, responses.SDK, true))
	// Output: Required field 'ExecutionArn' is missing
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service, action, value string
		names                  *responses.Naming
		want                   string // if members are not required
		strict                 string // if members are required, where that differs
	}{
		"nothing":        {service: "eventbridge", action: "putEvents", value: `{}`},
		"unknown member": {service: "eventbridge", action: "putEvents", value: `{"random":"json"}`},
		"missing member": {service: "sfn", action: "startExecution", value: `{}`,
			strict: "Required field 'ExecutionArn' is missing"},
		"missing second": {service: "sfn", action: "startExecution", value: `{"ExecutionArn":"a"}`,
			strict: "Required field 'StartDate' is missing"},
		"number for text": {service: "kms", action: "encrypt", value: `{"KeyId":1}`,
			want: "Field 'KeyId' must be a string"},
		"number for blob": {service: "kms", action: "encrypt", value: `{"CiphertextBlob":1}`,
			want: "Field 'CiphertextBlob' must be a string"},
		"empty blob": {service: "kms", action: "encrypt", value: `{"CiphertextBlob":""}`,
			want: "Field 'CiphertextBlob' is smaller than the minimum length"},
		"number for time": {service: "lambda", action: "getEventSourceMapping", value: `{"LastModified":1}`,
			want: "Field 'LastModified' must be a string"},
		"text for number": {service: "lambda", action: "invoke", value: `{"StatusCode":"200"}`,
			want: "Field 'StatusCode' must be a number"},
		"too small": {service: "lambda", action: "getFunction", value: `{"Configuration":{"MemorySize":127}}`,
			want: "Field 'MemorySize' is less than the minimum value"},
		"too large": {service: "lambda", action: "getFunction", value: `{"Configuration":{"MemorySize":10241}}`,
			want: "Field 'MemorySize' exceeds the maximum value"},
		"small enough": {service: "lambda", action: "getFunction",
			value: `{"Configuration":{"MemorySize":10240}}`},
		"not in enum": {service: "lambda", action: "getFunction", value: `{"Configuration":{"State":"Sleeping"}}`,
			want: "Field 'State' is not an expected value"},
		"in enum": {service: "lambda", action: "getFunction", value: `{"Configuration":{"State":"Pending"}}`},
		"element": {service: "eventbridge", action: "putEvents",
			value: `{"Entries":[{"EventId":"a"},{"EventId":["b"]}]}`, want: "Field 'EventId' must be a string"},
		"element of a list": {service: "sqs", action: "listQueues", value: `{"QueueUrls":["a",2]}`,
			want: "Field 'QueueUrls' must be a string"},
		"text for list": {service: "sqs", action: "listQueues", value: `{"QueueUrls":"a"}`,
			want: "Field 'QueueUrls' must be an array"},
		"value of a map": {service: "sqs", action: "getQueueAttributes", value: `{"Attributes":{"DelaySeconds":1}}`,
			want: "Field 'Attributes' must be a string"},
		"list for map": {service: "sqs", action: "getQueueAttributes", value: `{"Attributes":[]}`,
			want: "Field 'Attributes' must be an object"},
		"list for object": {service: "lambda", action: "getFunction", value: `{"Configuration":[]}`,
			want: "Field 'Configuration' must be an object"},
		"text for boolean": {service: "kms", action: "verify", value: `{"SignatureValid":"true"}`,
			want: "Field 'SignatureValid' must be a boolean"},
		"null": {service: "sqs", action: "sendMessage", value: `{"MessageId":null}`,
			want: "Field 'MessageId' must be a string"},
		"shape in itself": {service: "dynamodb", action: "getItem",
			value: `{"Item":{"a":{"L":[{"M":{"b":{"Bool":"yes"}}}]}}}`, want: "Field 'Bool' must be a boolean"},
		"model's name": {service: "dynamodb", action: "getItem", value: `{"Item":{"a":{"BOOL":"yes"}}}`},
		"optimized name": {
			service: "dynamodb", action: "getItem", value: `{"Item":{"a":{"BOOL":"yes"}}}`,
			names: responses.Optimized,
			want:  "Field 'BOOL' must be a boolean",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := responses.Of(c.service, c.action)
			if err != nil || result == nil {
				t.Fatalf("Find: %v, %v", result, err)
			}
			v, err := jsonvalue.Parse(c.value)
			if err != nil {
				t.Fatal(err)
			}
			if c.names == nil {
				c.names = responses.SDK
			}
			if got := said(result.Check(v, c.names, false)); got != c.want {
				t.Errorf("present members: got %q, want %q", got, c.want)
			}
			want := c.strict
			if want == "" {
				want = c.want
			}
			if got := said(result.Check(v, c.names, true)); got != want {
				t.Errorf("strictly: got %q, want %q", got, want)
			}
		})
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFree(t *testing.T) {
	t.Parallel()
	result, err := responses.Of("lambda", "invoke")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonvalue.Parse(`{"Payload":{"any":["JSON"]},"StatusCode":200}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := said(result.Check(v, responses.Optimized, true)); got != "Field 'Payload' must be a string" {
		t.Errorf("text only: got %q", got)
	}
	if result.Free("Payload"); result.Check(v, responses.Optimized, true) != nil {
		t.Error("Payload is not free")
	}
}

func TestUnknownActionsHaveNoResponse(t *testing.T) {
	t.Parallel()
	for _, name := range [][2]string{{"none", "getIt"}, {"sqs", "getIt"}, {"sqs", ""}, {"", ""},
		{"../sqs", "sendMessage"}, {"sqs", "deleteMessage"}} {
		if a, err := responses.Of(name[0], name[1]); a != nil || err != nil {
			t.Errorf("%q: got %v, %v", name, a, err)
		}
	}
}

func TestMemberName(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"BOOL": "Bool", "NULL": "Nul", "SS": "Ss", "S": "S", "ETag": "ETag", "ChecksumCRC32": "ChecksumCRC32",
		"SSEKMSKeyId":      "SsekmsKeyId",
		"MD5OfMessageBody": "Md5OfMessageBody", "ExecutionArn": "ExecutionArn", "ARN": "Arn",
		"DBInstances": "DbInstances", "": "",
		"Equals": "EqualsValue", "Default": "DefaultValue", "NotEquals": "NotEquals",
		"DBInstanceIdentifier": "DbInstanceIdentifier",
		"Public":               "PublicValue", "VPCId": "VpcId",
	} {
		if got := responses.MemberName(model); got != want {
			t.Errorf("%s becomes %s, want %s", model, got, want)
		}
	}
}
