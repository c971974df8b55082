package functions

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/lambda/eventqueue"
)

// invocationRecord is the record that a destination receives, as in the Lambda developer guide.
type invocationRecord struct {
	Version         string           `json:"version"`
	Timestamp       string           `json:"timestamp"`
	RequestContext  requestContext   `json:"requestContext"`
	RequestPayload  json.RawMessage  `json:"requestPayload"`
	ResponseContext *responseContext `json:"responseContext,omitempty"`
	ResponsePayload json.RawMessage  `json:"responsePayload,omitempty"`
}

type requestContext struct {
	RequestID              string               `json:"requestId"`
	FunctionArn            string               `json:"functionArn"`
	Condition              eventqueue.Condition `json:"condition"`
	ApproximateInvokeCount int                  `json:"approximateInvokeCount"`
}

type responseContext struct {
	StatusCode      int    `json:"statusCode"`
	ExecutedVersion string `json:"executedVersion"`
	FunctionError   string `json:"functionError,omitempty"`
}

// record sends the record of an invocation to a destination. again reports whether to retry.
func (s *Service) record(ctx context.Context, e *eventqueue.Event, to, detailType string) (again bool, err error) {
	r := invocationRecord{
		Version: "1.0", Timestamp: time.UnixMilli(e.End.At).UTC().Format("2006-01-02T15:04:05.000Z"),
		RequestContext: requestContext{e.ID, e.ARN, e.End.Condition, e.Attempts},
		RequestPayload: e.Payload,
	}
	if a := e.End.Answer; a != nil {
		r.ResponseContext = &responseContext{a.StatusCode, a.ExecutedVersion, a.FunctionError}
		r.ResponsePayload = document(a.Payload)
	}
	body, err := json.Marshal(r)
	if err != nil {
		s.opts.Log.Error("a record of an invocation cannot be written", "function", e.ARN, "error", err)
		return false, err
	}
	return s.deliver(ctx, e, to, &delivery.Message{Body: string(body), Source: "lambda", DetailType: detailType,
		Resources: []string{to, e.ARN}})
}

// document returns a response as JSON; text that is not JSON becomes a string.
func document(answer []byte) json.RawMessage {
	switch {
	case len(answer) == 0:
		return json.RawMessage("null")
	case json.Valid(answer):
		return answer
	}
	text, err := json.Marshal(string(answer))
	if err != nil {
		return json.RawMessage("null") // marshalling a string cannot fail
	}
	return text
}

// bury sends the event itself to the dead-letter queue, with the error as attributes. again reports whether to retry.
func (s *Service) bury(ctx context.Context, e *eventqueue.Event) (again bool, err error) {
	code, message := "429", "Rate Exceeded."
	if a := e.End.Answer; a != nil {
		code, message = "200", errorMessage(a.Payload)
	}
	return s.deliver(ctx, e, e.DeadLetters, &delivery.Message{Body: string(e.Payload),
		Attributes: map[string]delivery.Attribute{
			"RequestID":    {Type: "String", String: e.ID},
			"ErrorCode":    {Type: "Number", String: code},
			"ErrorMessage": {Type: "String", String: message},
		}})
}

// maxErrorMessage is the maximum length of the error message in a dead letter, in bytes.
const maxErrorMessage = 1 << 10

// errorMessage returns the message of a function error, without characters that a message attribute cannot have.
func errorMessage(answer []byte) string {
	var e struct{ ErrorMessage string }
	if json.Unmarshal(answer, &e) != nil || e.ErrorMessage == "" {
		return "Unhandled"
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return -1
		}
		return r
	}, e.ErrorMessage)
	return strings.ToValidUTF8(text[:min(len(text), maxErrorMessage)], "")
}

// deliver sends a message. again reports whether a retry may help; if not, the failure is logged.
func (s *Service) deliver(ctx context.Context, e *eventqueue.Event, to string, m *delivery.Message) (again bool,
	err error) {
	if s.opts.Deliver == nil {
		return false, errors.New("no records can be sent here")
	}
	ctx = delivery.From(ctx, delivery.Sender{Service: "lambda.amazonaws.com", Source: e.ARN})
	if err = s.opts.Deliver(ctx, to, m); err == nil {
		return false, nil
	}
	var refused *aws.Error
	if ctx.Err() != nil || !errors.As(err, &refused) || refused.ByServer() ||
		refused.Status == http.StatusTooManyRequests {
		return true, err
	}
	s.opts.Log.Warn("how an asynchronous invocation ended could not be told", "function", e.ARN, "destination", to,
		"error", err)
	return false, err
}
