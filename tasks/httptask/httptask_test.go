package httptask_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/tasks/httptask"
)

// invoke performs an HTTP Task against a server; more contains parameters in addition to the endpoint and the
// connection.
func invoke(t *testing.T, i *httptask.Integration, h http.HandlerFunc, path, more string) (string, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	result, err := i.Invoke(t.Context(), &engine.Task{Parameters: `{"ApiEndpoint":"` + server.URL + path +
		`","InvocationConfig":{"ConnectionArn":"arn:aws:events:us-east-1:1:connection/c/1"},` + more + `}`})
	if err != nil {
		return "", err
	}
	return result.Text(), nil
}

// echo responds with the request that it received.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Date", "today")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s %s|%s|%s", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), body)
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, more, want string }{
		"get": {"/a", `"Method":"GET"`, "GET /a||"},
		"query": {"/a?x=1", `"Method":"GET","QueryParameters":{"y":["2","3"],"z":true}`,
			"GET /a?x=1&y=2&y=3&z=true||"},
		"json": {"/", `"Method":"POST","RequestBody":{"a":[1,"x"]}`,
			`POST /|application/json|{"a":[1,"x"]}`},
		"text":                {"/", `"Method":"PUT","RequestBody":"plain"`, "PUT /|text/plain|plain"},
		"a type of one's own": {"/", `"Method":"PATCH","Headers":{"Content-Type":"application/merge-patch+json"},"RequestBody":{"a":1}`, `PATCH /|application/merge-patch+json|{"a":1}`},
		"form": {
			"/", `"Method":"POST","RequestBody":{"a":["x","y"],"b":{"c":1},"d e":"&"},"Transform":{"RequestBodyEncoding":"URL_ENCODED"}`,
			"POST /|application/x-www-form-urlencoded|a%5B0%5D=x&a%5B1%5D=y&b%5Bc%5D=1&d+e=%26",
		},
		"form with repeated keys": {
			"/", `"Method":"POST","RequestBody":{"a":["x","y"]},"Transform":{"RequestBodyEncoding":"URL_ENCODED","RequestEncodingOptions":{"ArrayFormat":"REPEAT"}}`,
			"POST /|application/x-www-form-urlencoded|a=x&a=y",
		},
		"form with commas": {
			"/", `"Method":"POST","RequestBody":{"a":["x","y"]},"Transform":{"RequestBodyEncoding":"URL_ENCODED","RequestEncodingOptions":{"ArrayFormat":"COMMAS"}}`,
			"POST /|application/x-www-form-urlencoded|a=x%2Cy",
		},
		"form with brackets": {
			"/", `"Method":"POST","RequestBody":{"a":["x","y"]},"Transform":{"RequestBodyEncoding":"URL_ENCODED","RequestEncodingOptions":{"ArrayFormat":"BRACKETS"}}`,
			"POST /|application/x-www-form-urlencoded|a%5B%5D=x&a%5B%5D=y",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := invoke(t, &httptask.Integration{}, echo, c.path, c.more)
			if err != nil {
				t.Fatal(err)
			}
			v, err := jsonvalue.Parse(got)
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := v.Get("ResponseBody"); body.Text() != c.want {
				t.Errorf("sent %s\nwant %s", body.Text(), c.want)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	var seen http.Header
	_, err := invoke(t, &httptask.Integration{Region: "eu-west-1"}, func(_ http.ResponseWriter,
		r *http.Request) {
		seen = r.Header
	}, "/",
		`"Method":"GET","Headers":{"X-A":["1","2"],"User-Agent":"mine","Range":"bytes=0-1","If-None-Match":"x","Upgrade":"h2c"}`)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"X-A": "1 2", "User-Agent": "Amazon|StepFunctions|HttpInvoke|eu-west-1", "Range": "bytes=0-262144",
		"If-None-Match": "", "Upgrade": "",
	} {
		if got := strings.Join(seen[name], " "); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status     int
		kind, body string
		want, err  string
	}{
		"json": {
			200, "application/json; charset=utf-8", `{"a": 1.0}`,
			`{"Headers":{"content-length":["10"],"content-type":["application/json; charset=utf-8"],"date":["today"]},"ResponseBody":{"a":1.0},"StatusCode":200,"StatusText":"OK"}`, "",
		},
		"a kind of json": {
			201, "application/problem+json", `[]`,
			`{"Headers":{"content-length":["2"],"content-type":["application/problem+json"],"date":["today"]},"ResponseBody":[],"StatusCode":201,"StatusText":"Created"}`, "",
		},
		"broken json is text": {
			200, "application/json", `{`,
			`{"Headers":{"content-length":["1"],"content-type":["application/json"],"date":["today"]},"ResponseBody":"{","StatusCode":200,"StatusText":"OK"}`, "",
		},
		"not found":          {404, "text/plain", "no such thing", "", "States.Http.StatusCode.404: no such thing"},
		"throttled":          {429, "application/json", `{"retry":1}`, "", `States.Http.StatusCode.429: {"retry":1}`},
		"a server's trouble": {503, "text/plain", "", "", "States.Http.StatusCode.503"},
		"a redirect":         {302, "text/plain", "over there", "", "States.Http.StatusCode.302: over there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := invoke(t, &httptask.Integration{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", "today")
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("Location", "http://127.0.0.1:1/")
				if c.status < 300 {
					w.Header().Del("Location")
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}, "/", `"Method":"GET"`)
			if fmt.Sprint(err) != c.err && (c.err != "" || err != nil) || got != c.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestUnusableParameters(t *testing.T) {
	t.Parallel()
	const connection = `"Authentication":{"ConnectionArn":"arn:aws:events:us-east-1:1:connection/c/1"}`
	for parameters, want := range map[string]string{
		`{}`: `The field "ApiEndpoint" is required but was missing, The field "Method" is required but was missing, The field "ConnectionArn" is required but was missing`,
		`{"ApiEndpoint":"http://example.com","Method":"GET",` + connection +
			`}`: `The value of the field 'ApiEndpoint' has an invalid format`,
		`{"ApiEndpoint":"https://u:p@example.com","Method":"GET",` + connection +
			`}`: `The value of the field 'ApiEndpoint' has an invalid format`,
		`{"ApiEndpoint":"https://example.com","Method":"TRACE",` + connection +
			`}`: `The value of the field 'Method' has an invalid format`,
		`{"ApiEndpoint":"https://example.com","Method":"GET","Headers":[],` + connection +
			`}`: `The value of the field 'Headers' has an invalid format`,
		`{"ApiEndpoint":"https://example.com","Method":"GET","Headers":{"A":"x\r\nB: y"},` + connection +
			`}`: `The value of the field 'Headers' has an invalid format`,
		`{"ApiEndpoint":"https://example.com","Method":"GET","Body":1,` + connection +
			`}`: `The field "Body" is not supported by Step Functions`,
		`{"ApiEndpoint":"https://example.com","Method":"GET","Transform":{"RequestBodyEncoding":"X"},` + connection +
			`}`: `The value of the field 'RequestBodyEncoding' has an invalid format`,
	} {
		_, err := (&httptask.Integration{}).Invoke(t.Context(), &engine.Task{Parameters: parameters})
		full := "States.Runtime: The Parameters '" + parameters + "' could not be used to start the Task: [" + want +
			"]"
		if err == nil || err.Error() != full {
			t.Errorf("got  %v\nwant %s", err, full)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	broken := roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
	i := &httptask.Integration{Transport: broken}
	_, err := invoke(t, i, echo, "/?key=secret", `"Method":"GET"`)
	if err == nil || err.Error() != "States.Http.Socket: connection refused" {
		t.Errorf("got %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// aws simulates EventBridge and Secrets Manager.
type aws map[string]string

func (a aws) Call(_ context.Context, service, action string, params jsonvalue.Value) (jsonvalue.Value, error) {
	return jsonvalue.Parse(a[service+":"+action+params.JSON()])
}

func TestConnections(t *testing.T) {
	t.Parallel()
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"for %s"}`, body)
	}))
	t.Cleanup(tokens.Close)
	for name, c := range map[string]struct{ connection, secret, want string }{
		"basic": {
			`{"BasicAuthParameters":{"Username":"u"}}`, `{"username":"u","password":"p"}`,
			"GET /||map[Authorization:[Basic dTpw]]",
		},
		"api key": {
			`{"ApiKeyAuthParameters":{"ApiKeyName":"X-Key"}}`, `{"api_key_name":"X-Key","api_key_value":"k"}`,
			"GET /||map[X-Key:[k]]",
		},
		"oauth": {
			`{"OAuthParameters":{"AuthorizationEndpoint":"` + tokens.URL +
				`","HttpMethod":"POST","ClientParameters":{"ClientID":"id"}}}`,
			`{"client_id":"id","client_secret":"s"}`,
			"GET /||map[Authorization:[Bearer for grant_type=client_credentials&client_id=id&client_secret=s]]",
		},
		"parameters": {
			`{"InvocationHttpParameters":{"HeaderParameters":[{"Key":"X-H","Value":"shown"}],"QueryStringParameters":[{"Key":"q","IsValueSecret":true}],` +
				`"BodyParameters":[{"Key":"b","Value":"1"}]}}`,
			`{"invocation_http_parameters":{"query_string_parameters":[{"key":"q","value":"hidden"}]}}`,
			`GET /?q=hidden|{"b":"1"}|map[X-H:[shown]]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := strings.ReplaceAll(c.secret, `"`, `\"`)
			i := &httptask.Integration{Connections: httptask.EventBridge{AWS: aws{
				`eventbridge:describeConnection{"Name":"c"}`: `{"SecretArn":"arn:s","AuthParameters":` +
					c.connection + `}`,
				`secretsmanager:getSecretValue{"SecretId":"arn:s"}`: `{"SecretString":"` + secret + `"}`,
			}}}
			got, err := invoke(t, i, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				for _, name := range []string{"Accept-Encoding", "Content-Length", "Content-Type", "Range",
					"User-Agent"} {
					r.Header.Del(name)
				}
				w.Header().Set("Content-Type", "text/plain")
				fmt.Fprintf(w, "%s %s|%s|%v", r.Method, r.URL.RequestURI(), body, r.Header)
			}, "/", `"Method":"GET"`)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := jsonvalue.Parse(got)
			if body, _ := v.Get("ResponseBody"); body.Text() != c.want {
				t.Errorf("got  %s\nwant %s", body.Text(), c.want)
			}
		})
	}
}

func ExampleIntegration() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"asked":%q}`, r.URL.RawQuery)
	}))
	defer server.Close()
	result, err := (&httptask.Integration{Region: "us-east-1"}).Invoke(context.Background(), &engine.Task{Parameters: `{
	  "ApiEndpoint": "` + server.URL + `", "Method": "GET", "QueryParameters": {"limit": 5},
	  "Authentication": {"ConnectionArn": "arn:aws:events:us-east-1:123456789012:connection/shop/1"}
	}`})
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := result.Value().Get("ResponseBody")
	fmt.Println(body.JSON())
	// Output: {"asked":"limit=5"}
}
