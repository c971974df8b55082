package sns_test

import (
	"errors"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws"
	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/jsonvalue"
	"stepback/services/sns"
)

// TestService calls every operation as clients of AWS do.
func TestService(t *testing.T) {
	t.Parallel()
	topics, err := sns.Open(t.TempDir(), sns.Options{Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := topics.Close(); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(topics.Handler())
	t.Cleanup(server.Close)
	service := model.MustFind("sns")
	c := &client.Client{Endpoint: server.URL, Region: "eu-west-1", HTTP: server.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")}
	const arn = "arn:aws:sns:eu-west-1:111111111111:news"
	for _, step := range []struct{ operation, input, want, code string }{
		{"CreateTopic", `{"Name":"news"}`, `{"TopicArn":"` + arn + `"}`, ""},
		{"CreateTopic", `{"Name":"no/slash"}`, "", "InvalidParameter"},
		{"CreateTopic", `{}`, "", "ValidationError"},
		{"GetTopicAttributes", `{"TopicArn":"` + arn + `"}`,
			`{"Attributes":{"Owner":"111111111111","TopicArn":"` + arn + `"}}`, ""},
		{"GetTopicAttributes", `{"TopicArn":"` + arn + `x"}`, "", "NotFound"},
		{"ListTopics", `{}`, `{"Topics":[{"TopicArn":"` + arn + `"}]}`, ""},
		{"ListTopics", `{"NextToken":"7"}`, "", "InvalidParameter"},
		{"Publish", `{"TopicArn":"` + arn + `x","Message":"m"}`, "", "NotFound"},
		{"Subscribe", `{"TopicArn":"` + arn + `","Protocol":"email"}`, "", "NotImplemented"},
		{"DeleteTopic", `{"TopicArn":"` + arn + `"}`, `{}`, ""},
		{"ListTopics", `{}`, `{"Topics":[]}`, ""},
	} {
		o, err := service.Operation(step.operation)
		if err != nil {
			t.Fatal(err)
		}
		input, err := jsonvalue.Parse(step.input)
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Call(t.Context(), &client.Request{Service: service, Operation: o, Input: input})
		var refused *client.Error
		switch {
		case errors.As(err, &refused):
			if !slices.Contains([]string{step.code, step.code + "Exception"}, refused.Code) || step.code == "" {
				t.Errorf("%s %s: %v, want %s", step.operation, step.input, err, step.code)
			}
		case err != nil:
			t.Fatal(err)
		case a.Output.JSON() != step.want || step.code != "":
			t.Errorf("%s %s: %s, want %s%s", step.operation, step.input, a.Output.JSON(), step.want, step.code)
		}
	}
}
