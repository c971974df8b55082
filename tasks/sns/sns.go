// Package sns carries out sns:publish tasks: it takes the parameters apart and shapes result and errors as Step
// Functions does. Where the message goes is the publisher's business.
package sns

import (
	"context"
	"errors"
	"strconv"

	"stepback/asl/jsonvalue"
	"stepback/aws"
	"stepback/engine"
)

// Message is one message to publish.
type Message struct{ TopicARN, Subject, Body string }

// Publisher publishes messages and returns their IDs.
type Publisher interface {
	Publish(ctx context.Context, m Message) (messageID string, err error)
}

// Integration carries out sns:publish.
type Integration struct{ Publisher Publisher }

// Invoke implements engine.Integration. A Message that is not a string is published as its JSON text.
func (i Integration) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	m := Message{TopicARN: text(params, "TopicArn"), Subject: text(params, "Subject"), Body: text(params, "Message")}
	id, err := i.Publisher.Publish(ctx, m)
	if err != nil {
		return nil, publishError(err)
	}
	dst := jsonvalue.AppendQuoted([]byte(`{"MessageId":`), id)
	dst = append(dst, `,"SdkHttpMetadata":{"HttpStatusCode":200},"SdkResponseMetadata":{"RequestId":`...)
	dst = jsonvalue.AppendQuoted(dst, id)
	return engine.TextResult(string(append(dst, "}}"...))), nil
}

func publishError(err error) error {
	var api *aws.Error
	if !errors.As(err, &api) {
		return engine.NewFailure("SNS.SdkClientException", err.Error())
	}
	return engine.NewFailure("SNS."+api.Code,
		api.Message+" (Service: AmazonSNS; Status Code: "+strconv.Itoa(api.Status)+"; Error Code: "+api.Code+
			"; Proxy: null)")
}

func text(params jsonvalue.Value, field string) string {
	v, ok := params.Get(field)
	switch {
	case !ok:
		return ""
	case v.Kind() == jsonvalue.String:
		return v.Text()
	default:
		return v.JSON()
	}
}
