package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stepback/aws"
)

type greeting struct {
	Name string `json:"name"`
}

type greeted struct {
	Text string `json:"text"`
	At   Time   `json:"at"`
}

func greet(_ context.Context, s aws.Scope, in *greeting) (*greeted, error) {
	switch in.Name {
	case "bug":
		return nil, errors.New("a secret")
	case "tired":
		return nil, &aws.Error{Code: "Tired", Message: "zzz"}
	case "taken":
		return nil, &aws.Error{Code: "ConflictException", Message: "no", Status: http.StatusConflict,
			Members: map[string]any{"reason": "TAKEN"}}
	}
	return &greeted{in.Name + "<" + s.Account + "," + s.Region, Time(time.UnixMilli(1_700_000_000_005))}, nil
}

var greetings = map[string]Operation{"Greet": Handle(greet)}

func ask(t testing.TB, target, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	serve(t, Config{Operations: greetings}).ServeHTTP(w, r)
	return w
}

func TestService(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target, body string
		header       []string
		status       int
		want         string
	}{
		"success": {"Greeter.Greet", `{"name":"a"}`, nil, 200,
			`{"text":"a<000000000000,us-east-1","at":1700000000.005}`},
		"scope": {
			"Greeter.Greet", `{"name":"a"}`,
			[]string{"Authorization", "AWS4-HMAC-SHA256 Credential=123456789012/20261121/eu-west-1/states/aws4_request, SignedHeaders=host, Signature=x"},
			200, `{"text":"a<123456789012,eu-west-1","at":1700000000.005}`,
		},
		"access key that is no account": {
			"Greeter.Greet", `{"name":"a"}`, []string{"Authorization",
				"AWS4-HMAC-SHA256 Credential=AKIA/1/eu-west-1/states/aws4_request, x"},
			200, `{"text":"a<000000000000,eu-west-1","at":1700000000.005}`,
		},
		"signature for several regions": {
			"Greeter.Greet", `{"name":"a"}`,
			[]string{"Authorization", "AWS4-ECDSA-P256-SHA256 Credential=123456789012/20261121/states/aws4_request, x",
				"X-Amz-Region-Set", "eu-west-1"},
			200, `{"text":"a<123456789012,eu-west-1","at":1700000000.005}`,
		},
		"signature for all regions": {
			"Greeter.Greet", `{"name":"a"}`,
			[]string{"Authorization", "AWS4-ECDSA-P256-SHA256 Credential=123456789012/20261121/states/aws4_request, x",
				"X-Amz-Region-Set", "*"},
			200, `{"text":"a<123456789012,us-east-1","at":1700000000.005}`,
		},
		"constraint": {
			"Greeter.Greet", "", nil, 400,
			`{"__type":"ValidationException","message":"1 validation error detected: Value null at 'name' failed to satisfy constraint: Member must not be null"}`,
		},
		"error with status and reason": {"Greeter.Greet", `{"name":"taken"}`, nil, 409,
			`{"__type":"ConflictException","message":"no","reason":"TAKEN"}`},
		"bug": {
			"Greeter.Greet", `{"name":"bug"}`, nil, 500,
			`{"__type":"InternalFailure","message":"The request processing has failed because of an internal error."}`,
		},
		"members of other spelling": {"Greeter.Greet", `{"NAME":"bug","name":"a","Name":7}`, nil, 200,
			`{"text":"a<000000000000,us-east-1","at":1700000000.005}`},
		"the last of two": {"Greeter.Greet", `{"name":7,"name":"a"}`, nil, 200,
			`{"text":"a<000000000000,us-east-1","at":1700000000.005}`},
		"not UTF-8": {"Greeter.Greet", "{\"name\":\"\xff\"}", nil, 400,
			`{"__type":"SerializationException"}`},
		"not JSON": {"Greeter.Greet", `{"name":`, nil, 400, `{"__type":"SerializationException"}`},
		"two values": {"Greeter.Greet", `{"name":"a"} {}`, nil, 400,
			`{"__type":"SerializationException"}`},
		"deep": {"Greeter.Greet", strings.Repeat("[", 20_000), nil, 400,
			`{"__type":"SerializationException"}`},
		"not an object": {"Greeter.Greet", `[]`, nil, 400,
			`{"__type":"SerializationException","message":"Start of structure or map found where not expected."}`},
		"unknown operation": {"Greeter.Part", `{}`, nil, 400,
			`{"__type":"UnknownOperationException","message":"Greeter has no operation Part that is known here. Those that are served: stepback services greeter, docs/services.md."}`},
		"operation that is not served": {"Greeter.Wave", `{}`, nil, 501,
			`{"__type":"NotImplemented","message":"The operation Wave of Greeter is not served here. Those that are: stepback services greeter, docs/services.md."}`},
		"fault": {"Greeter.Greet", `{"name":"tired"}`, nil, 503, `{"__type":"TiredFault","Message":"zzz"}`},
		"other service": {"DynamoDB.Greet", `{}`, nil, 400,
			`{"__type":"UnknownOperationException","message":"Greeter is asked by POST with Content-Type: application/x-amz-json-1.0 and X-Amz-Target: Greeter.OPERATION; this is POST with Content-Type: application/x-amz-json-1.0 and X-Amz-Target: DynamoDB.Greet. The Query protocol is not spoken here."}`},
		"other content": {"Greeter.Greet", `{}`, []string{"Content-Type", "text/plain"}, 400,
			`{"__type":"UnknownOperationException","message":"Greeter is asked by POST with Content-Type: application/x-amz-json-1.0 and X-Amz-Target: Greeter.OPERATION; this is POST with Content-Type: text/plain and X-Amz-Target: Greeter.Greet. The Query protocol is not spoken here."}`},
		"too large": {
			"Greeter.Greet", `{"name":"` + strings.Repeat("a", MaxBody) + `"}`, nil, 413,
			`{"__type":"RequestEntityTooLargeException","message":"Request size exceeded 1048576 bytes"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ask(t, c.target, c.body, c.header...)
			if got := w.Body.String(); w.Code != c.status || got != c.want {
				t.Errorf("%d %s\nwant %d %s", w.Code, got, c.status, c.want)
			}
			if w.Header().Get("X-Amzn-Requestid") == "" ||
				w.Header().Get("Content-Type") != "application/x-amz-json-1.0" {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

// FuzzService checks that no body causes an internal error or a response that is not JSON.
func FuzzService(f *testing.F) {
	f.Add(`{"name":"a"}`)
	f.Add(`{"name":{"a":[1,null]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := ask(t, "Greeter.Greet", body)
		var in greeting
		failing := json.Unmarshal([]byte(body), &in) == nil && in.Name == "bug"
		if !json.Valid(w.Body.Bytes()) || w.Code >= 500 && !failing {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
