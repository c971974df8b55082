package functions

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"stepback/services/delivery"
	"stepback/services/lambda/runner"
)

// destinations are where it is told how the asynchronous invocations of a version ended; those that are empty are not
// told.
type destinations struct {
	service                       *Service
	function                      string // the ARN of the version
	success, failure, deadLetters string
}

// invocationRecord is what a destination gets, as the developer guide shows it.
type invocationRecord struct {
	Version         string           `json:"version"`
	Timestamp       string           `json:"timestamp"`
	RequestContext  requestContext   `json:"requestContext"`
	RequestPayload  json.RawMessage  `json:"requestPayload"`
	ResponseContext *responseContext `json:"responseContext,omitempty"`
	ResponsePayload json.RawMessage  `json:"responsePayload,omitempty"`
}

type requestContext struct {
	RequestID              string           `json:"requestId"`
	FunctionArn            string           `json:"functionArn"`
	Condition              runner.Condition `json:"condition"`
	ApproximateInvokeCount int              `json:"approximateInvokeCount"`
}

type responseContext struct {
	StatusCode      int    `json:"statusCode"`
	ExecutedVersion string `json:"executedVersion"`
	FunctionError   string `json:"functionError,omitempty"`
}

// ended sends a record and a dead letter. It reports whether the destination or the queue has the event.
func (d destinations) ended(ctx context.Context, end *runner.EventEnd) (taken bool) {
	if end.Condition == runner.Success {
		return d.record(ctx, d.success, "Lambda Function Invocation Result - Success", end)
	}
	recorded := d.record(ctx, d.failure, "Lambda Function Invocation Result - Failure", end)
	return d.deadLetter(ctx, end) || recorded
}

// record sends the record of an invocation.
func (d destinations) record(ctx context.Context, to, detailType string, end *runner.EventEnd) bool {
	r := invocationRecord{
		Version: "1.0", Timestamp: d.service.opts.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		RequestContext: requestContext{end.RequestID, d.function, end.Condition, end.Attempts},
		RequestPayload: end.Event,
	}
	if a := end.Answer; a != nil {
		r.ResponseContext = &responseContext{a.StatusCode, a.ExecutedVersion, a.FunctionError}
		r.ResponsePayload = document(a.Payload)
	}
	body, err := json.Marshal(r)
	if err != nil {
		d.service.opts.Log.Error("a record of an invocation cannot be written", "function", d.function, "error", err)
		return false
	}
	return d.deliver(ctx, to, &delivery.Message{Body: string(body), Source: "lambda", DetailType: detailType,
		Resources: []string{to, d.function}})
}

// document is an answer as JSON: text that is none becomes a string.
func document(answer []byte) json.RawMessage {
	switch {
	case len(answer) == 0:
		return json.RawMessage("null")
	case json.Valid(answer):
		return answer
	}
	text, err := json.Marshal(string(answer))
	if err != nil {
		return json.RawMessage("null") // no string is refused
	}
	return text
}

// deadLetter sends the event itself, with what went wrong as attributes.
func (d destinations) deadLetter(ctx context.Context, end *runner.EventEnd) bool {
	code, message := "429", "Rate Exceeded."
	if end.Answer != nil {
		code, message = "200", errorMessage(end.Answer.Payload)
	}
	return d.deliver(ctx, d.deadLetters, &delivery.Message{Body: string(end.Event),
		Attributes: map[string]delivery.Attribute{
			"RequestID":    {Type: "String", String: end.RequestID},
			"ErrorCode":    {Type: "Number", String: code},
			"ErrorMessage": {Type: "String", String: message},
		}})
}

// maxErrorMessage is how much of an error's message a dead letter has, in bytes.
const maxErrorMessage = 1 << 10

// errorMessage is what a function's error says, without what no attribute can have.
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

// deliver sends a message, and tells the owner of the machine if it cannot.
func (d destinations) deliver(ctx context.Context, to string, m *delivery.Message) bool {
	if to == "" || d.service.opts.Deliver == nil {
		return false
	}
	if err := d.service.opts.Deliver(ctx, to, m); err != nil {
		d.service.opts.Log.Warn("how an asynchronous invocation ended could not be told", "function", d.function,
			"destination", to, "error", err)
		return false
	}
	return true
}
