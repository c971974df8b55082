package lambda_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// answered is an HTTP response without its body.
type answered struct {
	StatusCode int
	Header     http.Header
}

// ask sends a request to a function URL; its host is resolved to the server.
func ask(t *testing.T, server, to, method, body string, headers ...string) (answered, string) {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, server+u.RequestURI(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = u.Host
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{a.StatusCode, a.Header}, string(text)
}

func TestAFunctionURL(t *testing.T) {
	t.Parallel()
	c, server := serve(t)
	create(t, c, "F", `echo "$EVENT"`)
	name := sdk.String("F")
	made, err := c.CreateFunctionUrlConfig(t.Context(), &awslambda.CreateFunctionUrlConfigInput{FunctionName: name,
		AuthType: types.FunctionUrlAuthTypeNone, Cors: &types.Cors{AllowOrigins: []string{"https://shop.example"},
			AllowMethods: []string{"GET"}, MaxAge: sdk.Int32(60)}})
	if err != nil || !strings.HasSuffix(strings.Split(*made.FunctionUrl, ".localhost")[0], ".lambda-url.us-east-1") ||
		*made.FunctionArn != here+"F" {
		t.Fatalf("%+v, %v", made, err)
	}
	a, body := ask(t, server, *made.FunctionUrl+"orders/7?a=1&a=2&b=%20", "POST", `{"x":1}`,
		"Content-Type: application/json", "Cookie: one=1; two=2", "X-Many: a", "X-Many: b")
	var event struct {
		Version, RawPath, RawQueryString string
		Cookies                          []string
		Headers, QueryStringParameters   map[string]string
		Body                             string
		IsBase64Encoded                  bool
		RequestContext                   struct {
			AccountID, RouteKey, Stage string
			HTTP                       struct{ Method, Path, SourceIP string }
		}
	}
	if err := json.Unmarshal([]byte(body), &event); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%v: %d %s", err, a.StatusCode, body)
	}
	if event.Version != "2.0" || event.RawPath != "/orders/7" || event.RawQueryString != "a=1&a=2&b=%20" ||
		event.QueryStringParameters["a"] != "1,2" || event.QueryStringParameters["b"] != " " ||
		len(event.Cookies) != 2 || event.Headers["x-many"] != "a,b" || event.Body != `{"x":1}` || event.IsBase64Encoded ||
		event.RequestContext.HTTP.Method != http.MethodPost || event.RequestContext.AccountID != "anonymous" ||
		event.RequestContext.Stage != "$default" {
		t.Errorf("%s", body)
	}
	if _, text := ask(t, server, *made.FunctionUrl, "POST", "\xff\xfe", "Content-Type: application/octet-stream"); !strings.Contains(text, `"body":"//4=","isBase64Encoded":true`) {
		t.Errorf("%s", text)
	}
	preflight, _ := ask(t, server, *made.FunctionUrl, "OPTIONS", "", "Origin: https://shop.example",
		"Access-Control-Request-Method: GET")
	if h := preflight.Header; h.Get("Access-Control-Allow-Origin") != "https://shop.example" ||
		h.Get("Access-Control-Allow-Methods") != "GET" || h.Get("Access-Control-Max-Age") != "60" {
		t.Errorf("%v", h)
	}
	if other, _ := ask(t, server, *made.FunctionUrl, "GET", "", "Origin: https://evil.example"); other.Header.Get(
		"Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", other.Header)
	}
	_, err = c.CreateFunctionUrlConfig(t.Context(), &awslambda.CreateFunctionUrlConfigInput{FunctionName: name,
		AuthType: types.FunctionUrlAuthTypeNone})
	if text := refused(t, err); text != "ResourceConflictException: Failed to create function url config for [functionArn = "+
		here+"F]. Error message:  FunctionUrlConfig exists for this Lambda function" {
		t.Error(text)
	}
}

func TestAFunctionSaysHowItsURLAnswers(t *testing.T) {
	t.Parallel()
	c, server := serve(t)
	for name, test := range map[string]struct {
		says   string
		status int
		body   string
		header string
	}{
		"full": {`echo '{"statusCode":418,"headers":{"X-A":"b","Content-Type":"text/plain"},"cookies":["k=v"],"body":"aGk=","isBase64Encoded":true}'`,
			418, "hi", "text/plain"},
		"other":  {`echo '{"a":1}'`, 200, `{"a":1}`, "application/json"},
		"status": {`echo '{"statusCode":"wrong"}'`, 502, `{"Message":"Internal Server Error"}`, "application/json"},
		"fails":  {`kill $$`, 502, `{"Message":"Internal Server Error"}`, "application/json"},
	} {
		create(t, c, name, test.says)
		made, err := c.CreateFunctionUrlConfig(t.Context(), &awslambda.CreateFunctionUrlConfigInput{FunctionName: &name,
			AuthType: types.FunctionUrlAuthTypeNone})
		if err != nil {
			t.Fatal(err)
		}
		a, body := ask(t, server, *made.FunctionUrl, "GET", "")
		if a.StatusCode != test.status || body != test.body || a.Header.Get("Content-Type") != test.header ||
			name == "full" && (a.Header.Get("Set-Cookie") != "k=v" || a.Header.Get("X-A") != "b") {
			t.Errorf("%s: %d %s %v", name, a.StatusCode, body, a.Header)
		}
	}
}

func TestFunctionURLsAskForSignatures(t *testing.T) {
	t.Parallel()
	c, server := serve(t)
	create(t, c, "F", `echo "$EVENT"`)
	name := sdk.String("F")
	made, err := c.CreateFunctionUrlConfig(t.Context(), &awslambda.CreateFunctionUrlConfigInput{FunctionName: name,
		AuthType: types.FunctionUrlAuthTypeAwsIam})
	if err != nil {
		t.Fatal(err)
	}
	if a, body := ask(t, server, *made.FunctionUrl, "GET", ""); a.StatusCode != http.StatusForbidden ||
		!strings.Contains(body, `"Message":"Forbidden. `) {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	if a, body := ask(t, server, *made.FunctionUrl, "GET", "",
		"Authorization: AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=0",
	); a.StatusCode != http.StatusOK || !strings.Contains(body, `"iam":{"accessKey":"AK","accountId":"000000000000"`) {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	if _, err := c.UpdateFunctionUrlConfig(t.Context(), &awslambda.UpdateFunctionUrlConfigInput{FunctionName: name,
		AuthType: types.FunctionUrlAuthTypeNone}); err != nil {
		t.Error(err)
	}
	id := strings.TrimPrefix(strings.Split(*made.FunctionUrl, ".")[0], "http://")
	if a, body := ask(t, server, server+"/_stepback/lambda/url/"+id+"/x", "GET", ""); a.StatusCode != http.StatusOK ||
		!strings.Contains(body, `"rawPath":"/x"`) {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	got, err := c.GetFunctionUrlConfig(t.Context(), &awslambda.GetFunctionUrlConfigInput{FunctionName: name})
	if err != nil || got.AuthType != types.FunctionUrlAuthTypeNone || *got.FunctionUrl != *made.FunctionUrl {
		t.Errorf("%+v, %v", got, err)
	}
	list, err := c.ListFunctionUrlConfigs(t.Context(), &awslambda.ListFunctionUrlConfigsInput{FunctionName: name})
	if err != nil || len(list.FunctionUrlConfigs) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := c.DeleteFunctionUrlConfig(t.Context(), &awslambda.DeleteFunctionUrlConfigInput{
		FunctionName: name}); err != nil {
		t.Error(err)
	}
	if a, _ := ask(t, server, *made.FunctionUrl, "GET", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("a URL that was deleted: %d", a.StatusCode)
	}
	_, err = c.GetFunctionUrlConfig(t.Context(), &awslambda.GetFunctionUrlConfigInput{FunctionName: name})
	if text := refused(t, err); text != "ResourceNotFoundException: The resource you requested does not exist." {
		t.Error(text)
	}
}
