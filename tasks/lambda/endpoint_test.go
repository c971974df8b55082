package lambda_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"stepback/aws"
	"stepback/tasks/lambda"
	"stepback/tasks/lambda/invocation"
)

func TestEndpointInvokes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost ||
			r.URL.Path != "/2015-03-31/functions/arn:aws:lambda:us-east-1:1:function:f/invocations" {
			t.Errorf("%s %s %s, %v", r.Method, r.URL, event, err)
		}
		switch r.URL.Query().Get("Qualifier") {
		case "broken":
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			_, _ = io.WriteString(w, `{"errorType":"E","errorMessage":"m"}`)
		case "absent":
			w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException:http://internal.amazon.com/")
			w.Header().Set("X-Amzn-Requestid", "id")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"Message":"Function not found"}`)
		default:
			_, _ = w.Write(event)
		}
	}))
	t.Cleanup(server.Close)
	e := lambda.Endpoint{URL: server.URL + "/", Client: server.Client()}
	call := func(qualifier string) (*invocation.Answer, error) {
		return e.Invoke(t.Context(), &invocation.Request{
			FunctionName: "arn:aws:lambda:us-east-1:1:function:f", Qualifier: qualifier, Payload: []byte(`{"a":1}`),
		})
	}
	if a, err := call(""); err != nil || string(a.Payload) != `{"a":1}` || a.FunctionError != "" {
		t.Errorf("echo: %+v, %v", a, err)
	}
	if a, err := call("broken"); err != nil || a.FunctionError != "Unhandled" || !strings.Contains(string(a.Payload),
		`"E"`) {
		t.Errorf("function error: %+v, %v", a, err)
	}
	_, err := call("absent")
	var api *aws.Error
	want := &aws.Error{Code: "ResourceNotFoundException", Message: "Function not found", RequestID: "id",
		Status: 404}
	if !errors.As(err, &api) || !reflect.DeepEqual(api, want) {
		t.Errorf("absent: %v", err)
	}
}

func TestEndpointWithoutURL(t *testing.T) {
	t.Parallel()
	_, err := lambda.Endpoint{}.Invoke(t.Context(), &invocation.Request{FunctionName: "f"})
	if err == nil || !strings.Contains(err.Error(), "LAMBDA_ENDPOINT") {
		t.Errorf("%v", err)
	}
}
