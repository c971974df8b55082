package sns_test

import (
	"context"
	"errors"
	"testing"

	"stepback/aws"
	"stepback/engine"
	"stepback/tasks/sns"
)

type publisher struct {
	got sns.Message
	err error
}

func (p *publisher) Publish(_ context.Context, m sns.Message) (string, error) {
	p.got = m
	return "id-1", p.err
}

func TestPublish(t *testing.T) {
	t.Parallel()
	p := &publisher{}
	out, err := sns.Integration{Publisher: p}.Invoke(context.Background(), &engine.Task{
		Parameters: `{"TopicArn":"arn:t","Subject":"s","Message":{"rows": 3}}`,
	})
	if err != nil || out.Text() != `{"MessageId":"id-1","SdkHttpMetadata":{"HttpStatusCode":200},"SdkResponseMetadata":{"RequestId":"id-1"}}` {
		t.Errorf("%v, %v", out, err)
	}
	if p.got != (sns.Message{TopicARN: "arn:t", Subject: "s", Body: `{"rows":3}`}) {
		t.Errorf("%+v", p.got)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	p := &publisher{err: &aws.Error{Code: "NotFoundException", Message: "Topic does not exist", Status: 404}}
	_, err := sns.Integration{Publisher: p}.Invoke(context.Background(), &engine.Task{Parameters: `{}`})
	var e *engine.Failure
	if !errors.As(err, &e) || e.Name != "SNS.NotFoundException" ||
		e.Cause != "Topic does not exist (Service: AmazonSNS; Status Code: 404; Error Code: NotFoundException; Proxy: null)" {
		t.Error(err)
	}
}
