package sns

import (
	"cmp"
	"context"
	"net/http"

	"stepback/aws"
	"stepback/aws/server"
)

// Handler serves the API.
func (t *Topics) Handler() http.Handler {
	return server.Must(server.Config{
		Model: "sns", Default: t.opts.Scope, Invalid: "ValidationError", Failure: failure,
		Operations: map[string]server.Operation{
			"CreateTopic": server.Handle(t.createTopic), "DeleteTopic": server.Handle(t.deleteTopic),
			"GetTopicAttributes": server.Handle(t.getTopicAttributes), "ListTopics": server.Handle(t.listTopics),
			"Publish": server.Handle(t.publish),
		},
	})
}

func failure(err error) *aws.Error { return internal("The service failed", err) }

// topic is a request about a topic, and an answer that names one.
type topic struct {
	ARN string `json:"TopicArn"`
}

// none is the answer of operations that answer nothing.
type none struct{}

func (t *Topics) createTopic(_ context.Context, scope aws.Scope, in *struct{ Name string }) (*topic, error) {
	arn, err := t.CreateTopic(scope, in.Name)
	return &topic{arn}, err
}

func (t *Topics) deleteTopic(_ context.Context, _ aws.Scope, in *topic) (*none, error) {
	return &none{}, t.DeleteTopic(in.ARN)
}

type attributes struct {
	Attributes map[string]string
}

// getTopicAttributes answers with what does not have to be made up.
func (t *Topics) getTopicAttributes(_ context.Context, _ aws.Scope, in *topic) (*attributes, error) {
	if !t.exists(in.ARN) {
		return nil, &aws.Error{Code: "NotFound", Message: "Topic does not exist", Status: http.StatusNotFound}
	}
	arn, _ := aws.ParseARN(in.ARN)
	return &attributes{map[string]string{"TopicArn": in.ARN, "Owner": arn.Account}}, nil
}

type topics struct {
	Topics    []topic
	NextToken string `json:",omitempty"`
}

// listTopics answers a page of the topics.
func (t *Topics) listTopics(_ context.Context, scope aws.Scope, in *struct{ NextToken string }) (*topics, error) {
	const pageSize = 100
	page, next, ok := aws.Page(aws.NewListing(t.opts.Now(), "ListTopics", scope.Account, scope.Region), in.NextToken,
		pageSize, t.of(scope), func(arn string) string { return arn })
	if !ok {
		return nil, invalidParameter("NextToken")
	}
	out := &topics{Topics: make([]topic, len(page)), NextToken: next}
	for i, arn := range page {
		out.Topics[i] = topic{arn}
	}
	return out, nil
}

type message struct {
	TopicARN  string `json:"TopicArn"`
	TargetARN string `json:"TargetArn"`
	Subject   string
	Message   string
}

type published struct {
	MessageID string `json:"MessageId"`
}

func (t *Topics) publish(ctx context.Context, _ aws.Scope, in *message) (*published, error) {
	id, err := t.Publish(ctx, PublishInput{TopicARN: cmp.Or(in.TopicARN, in.TargetARN), Subject: in.Subject,
		Message: in.Message})
	return &published{id}, err
}
