package endpoint_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/local/endpoint"
)

// says returns a service that responds with its name and the requested path.
func says(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_,
			_ = io.WriteString(w, name+" "+r.URL.EscapedPath())
	})
}

func handler() *endpoint.Handler {
	return &endpoint.Handler{
		Services: []endpoint.Service{
			{Name: "Step Functions", Signing: "states", Target: "AWSStepFunctions", Handler: says("states")},
			{Name: "Lambda", Signing: "lambda", Handler: says("lambda")},
			{Name: "S3", Signing: "s3", Handler: says("s3")},
			{Name: "CloudWatch Logs", Signing: "logs", Target: "Logs_20140328", Handler: says("logs")},
			{Name: "SQS", Signing: "sqs", Target: "AmazonSQS", Handler: says("sqs")},
			{Name: "STS", Signing: "sts", Handler: says("sts")},
			{Name: "X-Ray", Signing: "xray", Target: "Rpc", Handler: says("xray")},
		},
		Hosts: []string{"box.example"},
		Health: func() endpoint.Health {
			return endpoint.Health{Services: map[string]string{"s3": "running"}, Version: "v1"}
		},
	}
}

func ask(t *testing.T, method, path, host string, headers ...string) (status int, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	r.Host = host
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func signed(service string) string {
	return "Authorization: AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/" + service +
		"/aws4_request, SignedHeaders=host, Signature=0"
}

func TestServicesAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		headers      []string
		want         string
	}{
		{"POST", "/", []string{"X-Amz-Target: AWSStepFunctions.ListStateMachines"}, "states /"},
		{"POST", "/", []string{signed("states")}, "states /"},
		{"POST", "/", []string{"Content-Type: application/x-www-form-urlencoded; charset=utf-8"}, "sts /"},
		{"POST", "/", []string{"Content-Type: application/x-amz-json-1.0"}, "states /"},
		{"POST", "/bucket", []string{"Content-Type: application/x-amz-json-1.0"}, "s3 /bucket"},
		{"POST", "/", []string{"Content-Type: application/x-amz-json-1.1", signed("logs")}, "logs /"},
		{"POST", "/", []string{"X-Amz-Target: DynamoDB_20120810.ListTables"}, "The service dynamodb is not served"},
		{"POST", "/", []string{"X-Amz-Target: Logs_20140328.FilterLogEvents"}, "logs /"},
		{"POST", "/000000000000/queue", []string{signed("sqs")}, "sqs /000000000000/queue"},
		{"POST", "/", []string{"X-Amz-Target: AmazonSQS.SendMessage"}, "sqs /"},
		{"POST", "/", []string{signed("sts")}, "sts /"},
		{"POST", "/service/Rpc/operation/Put", []string{"Smithy-Protocol: rpc-v2-cbor", signed("other")},
			"xray /service/Rpc/operation/Put"},
		{"POST", "/", []string{signed("iam"), "Content-Type: application/x-www-form-urlencoded; charset=utf-8"},
			"<ErrorResponse><Error><Type>Sender</Type><Code>NotImplementedException</Code><Message>The service iam is not served"},
		{"POST", "/", []string{"X-Amz-Target: ListStateMachines", signed("states")}, "states /"},
		{"POST", "/", []string{"X-Amz-Target: Kinesis_20131202.ListStreams", signed("kinesis")},
			"Set AWS_ENDPOINT_URL_KINESIS for"},
		{"POST", "/", []string{"X-Amz-Target: GraniteServiceVersion20100801.ListMetrics", signed("monitoring")},
			"Set AWS_ENDPOINT_URL_CLOUDWATCH for"},
		{"POST", "/", []string{"X-Amz-Target: AWSEvents.PutEvents"}, "Set AWS_ENDPOINT_URL_EVENTBRIDGE"},
		{"POST", "/", []string{signed("rds")},
			"Set AWS_ENDPOINT_URL_DOCDB or AWS_ENDPOINT_URL_NEPTUNE or AWS_ENDPOINT_URL_RDS for"},
		{"POST", "/", []string{signed("nosuch")}, "Set the client's AWS_ENDPOINT_URL_ variable"},
		{"GET", "/anything", []string{"Authorization: AWS4-ECDSA-P256-SHA256 Credential=AK/20260101/lambda/aws4_request, Signature=0"}, "lambda /anything"},
		{"GET", "/2015-03-31/functions", nil, "lambda /2015-03-31/functions"},
		{"GET", "/2015-03-31/functions/", []string{signed("lambda")}, "lambda /2015-03-31/functions/"},
		{"GET", "/2017-03-31/tags/arn%3Aaws", nil, "lambda /2017-03-31/tags/arn%3Aaws"},
		{"GET", "/2099-01-01/new", []string{signed("lambda")}, "lambda /2099-01-01/new"},
		{"GET", "/_stepback/lambda/code/x", []string{signed("s3")}, "lambda /_stepback/lambda/code/x"},
		{"GET", "/2015-03-31/functions/f", []string{signed("s3")}, "s3 /2015-03-31/functions/f"},
		{"GET", "/2015-03-31/report.csv", nil, "s3 /2015-03-31/report.csv"},
		{"GET", "/bucket/key%2Fwith", nil, "s3 /bucket/key%2Fwith"},
		{"GET", "/bucket/key?X-Amz-Credential=AK%2F20260101%2Fus-east-1%2Fs3%2Faws4_request", nil, "s3 /bucket/key"},
		{"GET", "/", nil, "s3 /"},
		{"GET", endpoint.HealthPath, nil, `{"services":{"s3":"running"},"version":"v1"}`},
		{"GET", endpoint.LocalStackHealthPath, nil, `"s3":"running"`},
		{"POST", endpoint.HealthPath, nil, "Use GET."},
	} {
		if _, body := ask(t, c.method, c.path, "127.0.0.1:4566", c.headers...); !strings.Contains(body, c.want) {
			t.Errorf("%s %s %v: %s, want %s", c.method, c.path, c.headers, body, c.want)
		}
	}
}

func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	h := handler()
	h.Log = slog.New(slog.NewTextHandler(&text, nil))
	for _, target := range []string{"AWSStepFunctions.StartExecution", ""} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/bucket/key", nil)
		r.Host = "localhost"
		r.Header.Set("X-Amz-Target", target)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, want := range []string{"service=states operation=StartExecution status=200 took=",
		`service=s3 operation="POST /bucket/key" status=200 took=`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s lacks %s", text.String(), want)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"127.0.0.1:4566":           "s3 /key%2F",
		"127.8.9.1":                "s3 /key%2F",
		"[::1]:4566":               "s3 /key%2F",
		"LOCALHOST:4566":           "s3 /key%2F",
		"localhost.:4566":          "s3 /key%2F",
		"box.example:4566":         "s3 /key%2F",
		"bucket.localhost:4566":    "s3 /bucket/key%2F",
		"bucket.s3.localhost:4566": "s3 /bucket/key%2F",
		"s3.localhost":             "s3 /key%2F",
		"sync-localhost:4566":      "s3 /key%2F",
		"sync-127.0.0.1:4566":      "s3 /key%2F",
		"sync-box.example:4566":    "s3 /key%2F",
		"sync-evil.example:4566":   "not a name of this server",
		"evil.example:4566":        "not a name of this server",
		"localhost.evil.example":   "not a name of this server",
		"notlocalhost":             "not a name of this server",
		"192.168.1.5:4566":         "not a name of this server",
		"":                         "not a name of this server",
	} {
		if status, body := ask(t, "GET", "/key%2F", host); !strings.Contains(body, want) ||
			(status == http.StatusForbidden) != strings.HasPrefix(want, "not a name") {
			t.Errorf("%q: %d %s", host, status, body)
		}
	}
}

func TestWebPagesAreRefused(t *testing.T) {
	t.Parallel()
	for header, refused := range map[string]bool{
		"Origin: https://evil.example":  true,
		"Origin: null":                  true,
		"Origin: http://127.0.0.1:3000": true,
		"Origin: http://127.0.0.1:4566": false,
		"Sec-Fetch-Site: cross-site":    true,
		"Sec-Fetch-Site: same-site":     true,
		"Sec-Fetch-Site: same-origin":   false,
		"Sec-Fetch-Site: none":          false,
	} {
		if status, body := ask(t, "POST", "/2015-03-31/functions/f/invocations", "127.0.0.1:4566",
			header); (status == http.StatusForbidden) != refused {
			t.Errorf("%s: %d %s", header, status, body)
		}
	}
}

// TestPagesOfAService sends requests of a web page to a service that decides about them itself, and to others.
func TestPagesOfAService(t *testing.T) {
	t.Parallel()
	h := handler()
	for i := range h.Services {
		h.Services[i].Pages = h.Services[i].Signing == "s3"
	}
	for target, want := range map[string]int{
		"/bucket/key": http.StatusOK,
		"/bucket/key?X-Amz-Credential=AK/20260101/us-east-1/s3/aws4_request":     http.StatusOK,
		"/bucket/key?X-Amz-Credential=AK/20260101/us-east-1/lambda/aws4_request": http.StatusForbidden,
		endpoint.HealthPath:  http.StatusForbidden,
		endpoint.ControlPath: http.StatusForbidden,
		endpoint.MetricsPath: http.StatusForbidden,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		r.Host = "127.0.0.1:4566"
		r.Header.Set("Origin", "http://localhost:3000")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}
