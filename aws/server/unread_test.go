package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/aws"
	"stepback/aws/server"
)

// create is a request of which only some members are read.
type create struct {
	QueueName  string
	Attributes map[string]string
}

func queuesReading(o server.Operation, accepted map[string]map[string]string) *server.Service {
	return server.Must(server.Config{Model: "sqs", Operations: map[string]server.Operation{"CreateQueue": o}, Accepted: accepted})
}

func TestUnreadMembers(t *testing.T) {
	t.Parallel()
	typed := server.Handle(func(context.Context, aws.Scope, *create) (*struct{}, error) { return &struct{}{}, nil })
	raw := server.Operation{Call: func(context.Context, *server.Request) (*server.Answer, error) { return nil, nil }}
	for _, c := range []struct {
		name, body string
		operation  server.Operation
		accepted   map[string]map[string]string
		want       string // part of the error's message; "" if the request is accepted
	}{
		{name: "read", body: `{"QueueName":"q","Attributes":{"DelaySeconds":"1"}}`, operation: typed},
		{name: "not read", body: `{"QueueName":"q","tags":{"a":"b"}}`, operation: typed, want: "CreateQueue: the member tags is not supported"},
		{name: "empty", body: `{"QueueName":"q","tags":{}}`, operation: typed},
		{name: "null", body: `{"QueueName":"q","tags":null}`, operation: typed},
		{name: "accepted", body: `{"QueueName":"q","tags":{"a":"b"}}`, operation: typed,
			accepted: map[string]map[string]string{"CreateQueue": {"tags": "tags are not stored"}}},
		{name: "accepted by all", body: `{"QueueName":"q","tags":{"a":"b"}}`, operation: typed,
			accepted: map[string]map[string]string{"": {"tags": "tags are not stored"}}},
		{name: "declared besides", body: `{"QueueName":"q","tags":{"a":"b"}}`, operation: typed.Reading(server.Members{"tags"})},
		{name: "nothing declared", body: `{"QueueName":"q"}`, operation: raw, want: "CreateQueue: the member QueueName is not supported"},
		{name: "everything declared", body: `{"QueueName":"q","tags":{"a":"b"}}`, operation: raw.Reading(server.WholeInput{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", "AmazonSQS.CreateQueue")
			w := httptest.NewRecorder()
			queuesReading(c.operation, c.accepted).ServeHTTP(w, r)
			switch {
			case c.want == "" && w.Code != http.StatusOK:
				t.Errorf("status %d: %s", w.Code, w.Body)
			case c.want != "" && (w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), c.want) ||
				!strings.Contains(w.Body.String(), `"NotImplemented"`)):
				t.Errorf("status %d: %s, want 501 and %q", w.Code, w.Body, c.want)
			}
		})
	}
}

func TestUnreadMembersWithinMembers(t *testing.T) {
	t.Parallel()
	s := server.Must(server.Config{Model: "scheduler", Operations: map[string]server.Operation{
		"CreateSchedule": server.Handle(func(context.Context, aws.Scope, *struct {
			Name, ScheduleExpression string
			FlexibleTimeWindow       struct{ Mode string }
			Target                   struct{ Arn string }
		}) (*struct{}, error) {
			return &struct{}{}, nil
		}).Reading(server.Within{"Target": struct{ Arn, RoleArn string }{}}),
	}})
	body := `{"ScheduleExpression":"rate(1 minute)","FlexibleTimeWindow":{"Mode":"OFF"},` +
		`"Target":{"Arn":"a","RoleArn":"arn:aws:iam::123456789012:role/r","EcsParameters":{"TaskDefinitionArn":"t"}}}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/schedules/s", strings.NewReader(body))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if want := "CreateSchedule: the member Target.EcsParameters is not supported"; w.Code != http.StatusNotImplemented ||
		!strings.Contains(w.Body.String(), want) {
		t.Errorf("status %d: %s, want 501 and %q", w.Code, w.Body, want)
	}
	for _, o := range s.Coverage().Operations {
		if o.Name != "CreateSchedule" {
			continue
		}
		want := "ActionAfterCompletion ClientToken Description EndDate FlexibleTimeWindow.MaximumWindowInMinutes GroupName KmsKeyArn " +
			"ScheduleExpressionTimezone StartDate State Target.DeadLetterConfig Target.EcsParameters Target.EventBridgeParameters " +
			"Target.EventBridgePutEventsV2Parameters Target.EventBridgePutRawEventsParameters " +
			"Target.Input Target.KinesisParameters Target.RetryPolicy Target.SageMakerPipelineParameters Target.SqsParameters"
		if got := strings.Join(o.Refused, " "); got != want {
			t.Errorf("refused: %s\nwant %s", got, want)
		}
	}
}

func TestAcceptedNeedsAnOperationAndAReason(t *testing.T) {
	t.Parallel()
	for _, accepted := range []map[string]map[string]string{{"DeleteQueue": {"QueueUrl": "why"}}, {"CreateQueue": {"tags": ""}}} {
		_, err := server.New(server.Config{Model: "sqs", Accepted: accepted, Operations: map[string]server.Operation{"CreateQueue": {}}})
		if err == nil {
			t.Errorf("%v was accepted", accepted)
		}
	}
}
