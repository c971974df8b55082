package httptask_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/engine"
	"stepback/tasks/httptask"
)

func TestGateway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more string
		h    http.HandlerFunc
		want string
		err  string
	}{
		"a path of a stage": {
			more: `"Method":"GET","Stage":"prod","Path":"bills/1","QueryParameters":{"q":["1","2"]}`, h: tell,
			want: `"GET /prod/bills/1?q=1&q=2||"`,
		},
		"a body": {
			more: `"Method":"POST","Stage":"prod","Path":"/bills","RequestBody":{"id":1}`, h: tell,
			want: `"POST /prod/bills|application/json|{\"id\":1}"`,
		},
		"a signature": {
			more: `"Method":"GET","AuthType":"IAM_ROLE"`, want: `"signed"`,
			h: func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) },
		},
		"JSON is read": {
			more: `"Method":"GET"`, want: `{"a":[1]}`,
			h: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"a": [1]}`)
			},
		},
		"a status that is an error": {
			more: `"Method":"GET"`, err: `ApiGateway.403: {"message":"Missing Authentication Token"}`,
			h: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprint(w, `{"message":"Missing Authentication Token"}`)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.h)
			defer server.Close()
			host := strings.TrimPrefix(server.URL, "http://")
			g := &httptask.Gateway{Sign: func(_ context.Context, r *http.Request, _ string) error {
				r.Header.Set("Authorization", "signed")
				return nil
			}}
			result, err := g.Invoke(t.Context(), &engine.Task{Parameters: `{"ApiEndpoint":"` + host + `",` + c.more +
				`}`})
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := result.Value().Get("ResponseBody"); body.JSON() != c.want {
				t.Errorf("got  %s\nwant %s", body.JSON(), c.want)
			}
		})
	}
}

// tell responds with the request that it received.
func tell(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "%s %s|%s|%s", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), body)
}

// An emulator finds the API by the Host header, and its response headers are part of the result.
func TestGatewayBehindAnEmulator(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = []string{"today"}
		w.Header().Set("X-Amzn-RequestId", "r-1")
		w.Header().Set("X-Amz-Apigw-Id", "g-1")
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, r.Host+r.URL.Path)
	}))
	defer server.Close()
	g := &httptask.Gateway{Endpoint: func() string { return server.URL }}
	result, err := g.Invoke(t.Context(),
		&engine.Task{Parameters: `{"ApiEndpoint":"abc.execute-api.us-east-1.amazonaws.com","Method":"GET","Stage":"s"}`})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Headers":{"Content-Length":["41"],"Content-Type":["text/plain"],"Date":["today"],"x-amz-apigw-id":["g-1"],` +
		`"x-amzn-RequestId":["r-1"]},"ResponseBody":"abc.execute-api.us-east-1.amazonaws.com/s","StatusCode":200,"StatusText":"OK"}`
	if got := result.Text(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGatewayParameters(t *testing.T) {
	t.Parallel()
	const api = `"ApiEndpoint":"127.0.0.1:1","Method":"GET"`
	for parameters, want := range map[string]string{
		`{}`:                                `The field "ApiEndpoint" is required but was missing, The field "Method" is required but was missing`,
		`{` + api + `,"Body":1}`:            `The field "Body" is not supported by Step Functions`,
		`{` + api + `,"Headers":{"A":"1"}}`: `The value of the field 'Headers' has an invalid format`,
		`{` + api + `,"Headers":{"X-Amz-Date":["1"]}}`:        `The value of the field 'Headers' has an invalid format`,
		`{` + api + `,"QueryParameters":{"A":"1"}}`:           `The value of the field 'QueryParameters' has an invalid format`,
		`{` + api + `,"AuthType":"BASIC"}`:                    `The value of the field 'AuthType' has an invalid format`,
		`{"ApiEndpoint":"https://a.example","Method":"GET"}`:  `The value of the field 'ApiEndpoint' has an invalid format`,
		`{"ApiEndpoint":"127.0.0.1:1/prod","Method":"TRACE"}`: `The value of the field 'ApiEndpoint' has an invalid format, The value of the field 'Method' has an invalid format`,
	} {
		_, err := (&httptask.Gateway{}).Invoke(t.Context(), &engine.Task{Parameters: parameters})
		full := "States.Runtime: The Parameters '" + parameters + "' could not be used to start the Task: [" + want +
			"]"
		if err == nil || err.Error() != full {
			t.Errorf("got  %v\nwant %s", err, full)
		}
	}
}

func TestNoGatewayAtAWS(t *testing.T) {
	t.Parallel()
	_, err := (&httptask.Gateway{}).Invoke(t.Context(),
		&engine.Task{Parameters: `{"ApiEndpoint":"a.execute-api.us-east-1.amazonaws.com","Method":"GET"}`})
	want := "ApiGateway.SdkClientException: no endpoint for API Gateway is configured; set APIGATEWAY_ENDPOINT to the URL at which " +
		"a.execute-api.us-east-1.amazonaws.com is called"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
