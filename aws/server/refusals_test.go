package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/smithy-go/encoding/cbor"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// real returns the service of a real model whose operations all return err.
func real(t testing.TB, name string, err error, operations ...string) *Service {
	t.Helper()
	all := map[string]Operation{}
	for _, o := range operations {
		all[o] = Operation{Reads: WholeInput{}, Call: func(context.Context, *Request) (*Answer,
			error) {
			return &Answer{}, err
		}}
	}
	words := Words{QueryCodes: map[string]string{"QueueDoesNotExist": "AWS.SimpleQueueService.NonExistentQueue"}}
	s, newErr := New(Config{Model: name, Operations: all, Words: words, Default: aws.Scope{Account: "000000000000",
		Region: "us-east-1"}})
	if newErr != nil {
		t.Fatal(newErr)
	}
	return s
}

// asked returns a request with headers NAME, VALUE, …
func asked(method, uri, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, uri, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// Requests with wrong protocols, types, names or bodies are rejected in the service's protocol.
func TestRefusals(t *testing.T) {
	t.Parallel()
	topic := real(t, "sns", &aws.Error{Code: "NotFound", Message: "Topic does not exist"}, "Publish")
	bucket := real(t, "s3", &aws.Error{Code: "NoSuchKey", Message: "no <key>"}, "GetObject", "PutBucketTagging",
		"ListObjectsV2")
	function := real(t, "lambda", &aws.Error{Code: "TooManyRequestsException", Message: "Rate Exceeded.",
		Members: map[string]any{"Reason": "ConcurrentInvocationLimitExceeded", "retryAfterSeconds": "7"}}, "Invoke",
		"CreateFunction")
	vpc := real(t, "ec2", &aws.Error{Code: "InvalidVpcID.NotFound", Message: "no vpc"}, "DescribeVpcs")
	metric := real(t, "cloudwatch", &aws.Error{Code: "ResourceNotFound", Message: "no dashboard"}, "GetDashboard")
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	const id = "<RequestId>"
	for name, c := range map[string]struct {
		s      *Service
		r      *http.Request
		status int
		want   string // expected content of the body
	}{
		"query: unknown action": {topic, asked("POST", "/", "Action=Pubish", form...), 400,
			"<Code>InvalidAction</Code><Message>Could not find operation Pubish for version 2010-03-31. SNS has no operation Pubish that is known here. Those that are served: stepback services sns, docs/services.md.</Message>"},
		"query: another version": {topic, asked("POST", "/", "Action=Publish&Message=m&Version=2009-01-01", form...), 400,
			"<Code>InvalidAction</Code><Message>Could not find operation Publish for version 2009-01-01</Message>"},
		"query: the version": {topic, asked("POST", "/", "Action=Publish&Message=m&Version=2010-03-31", form...), 404,
			"<Code>NotFound</Code>"},
		"query: no action": {topic, asked("POST", "/", "", form...), 400, "<Code>InvalidAction</Code>"},
		"query: other content": {topic, asked("POST", "/", "{}", "Content-Type", "application/json"), 400,
			"<Code>InvalidAction</Code>"},
		"query: not served": {topic, asked("POST", "/", "Action=Subscribe", form...), 501,
			"<Code>NotImplemented</Code><Message>The operation Subscribe of SNS is not served here. Those that are: stepback services sns, docs/services.md.</Message>"},
		"query: bad form": {topic, asked("POST", "/", "Action=%zz", form...), 400,
			"<Code>MalformedQueryString</Code>"},
		"query: missing member": {topic, asked("POST", "/", "Action=Publish", form...), 400,
			"Value null at &#39;message&#39;"},
		"query: modelled error": {topic, asked("POST", "/", "Action=Publish&Message=m", form...), 404,
			"<Type>Sender</Type><Code>NotFound</Code><Message>Topic does not exist</Message></Error>" + id},
		"query: wrong type": {vpc, asked("POST", "/", "Action=DescribeVpcs&MaxResults=many", form...), 400,
			"<Code>SerializationException</Code>"},
		"query: too deep": {topic, asked("POST", "/", "Action=Publish&"+strings.Repeat("a.", 1000)+"=1", form...), 400,
			"<Code>SerializationException</Code>"},
		"ec2: error": {vpc, asked("POST", "/", "Action=DescribeVpcs", form...), 400,
			"<Response><Errors><Error><Code>InvalidVpcID.NotFound</Code><Message>no vpc</Message></Error></Errors><RequestID>"},
		"xml: error": {bucket, asked("GET", "/b/k", ""), 404,
			"<Error><Code>NoSuchKey</Code><Message>no &lt;key&gt;</Message>"},
		"xml: malformed": {bucket, asked("PUT", "/b?tagging", "<Tagging><"), 400, "<Code>MalformedXML</Code>"},
		"xml: deep": {bucket, asked("PUT", "/b?tagging", strings.Repeat("<a>", 5000)), 400,
			"<Code>MalformedXML</Code>"},
		"xml: nothing": {bucket, asked("PUT", "/b?tagging", ""), 400, "Value null at &#39;tagging&#39;"},
		"xml: not served": {bucket, asked("DELETE", "/b/k", ""), 501,
			"The operation DeleteObject of S3 is not served here. Those that are: stepback services s3, docs/services.md."},
		"xml: wrong type": {bucket, asked("GET", "/b?list-type=2&max-keys=many", ""), 400,
			"<Code>SerializationException</Code>"},
		"rest: error": {function, asked("POST", "/2015-03-31/functions/f/invocations", "{}"), 429,
			`"Reason":"ConcurrentInvocationLimitExceeded"`},
		"rest: unknown": {function, asked("PATCH", "/2015-03-31/functions", "{}"), 404,
			"PATCH /2015-03-31/functions is no operation of Lambda."},
		"rest: not served": {function, asked("GET", "/2015-03-31/functions/f", ""), 501,
			"The operation GetFunction of Lambda is not served here. Those that are: stepback services lambda, docs/services.md."},
		"rest: not JSON": {function, asked("POST", "/2015-03-31/functions", "{"), 400, "{}"},
		"rest: too large": {function, asked("POST", "/2015-03-31/functions", strings.Repeat(" ", MaxBody+1)), 413,
			"Request size exceeded 1048576 bytes"},
		"rest: not gzip": {function, asked("POST", "/2015-03-31/functions", "{}", "Content-Encoding", "gzip"), 400,
			"not compressed as Content-Encoding says"},
		"json of three": {metric, asked("POST", "/", `{"DashboardName":"d"}`, "Content-Type",
			"application/x-amz-json-1.0",
			"X-Amz-Target", "GraniteServiceVersion20100801.GetDashboard"), 404, `"message":"no dashboard"`},
		"query of three": {metric, asked("POST", "/", "Action=GetDashboard&DashboardName=d", form...), 404,
			"<Code>ResourceNotFound</Code>"},
		"none of three": {metric, asked("GET", "/", ""), 404, "UnknownOperationException"},
	} {
		w := httptest.NewRecorder()
		c.s.ServeHTTP(w, c.r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %s\nwant %d %s", name, w.Code, w.Body, c.status, c.want)
		}
	}
}

// Clients of a service that once used Query receive the older code of an error.
func TestQueryCompatibleErrors(t *testing.T) {
	t.Parallel()
	s := real(t, "sqs", &aws.Error{Code: "QueueDoesNotExist", Message: "no queue"}, "GetQueueUrl")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, asked("POST", "/", `{"QueueName":"q"}`, "Content-Type", "application/x-amz-json-1.0",
		"X-Amz-Target", "AmazonSQS.GetQueueUrl", "X-Amzn-Query-Mode", "true"))
	if got := w.Header().Get("X-Amzn-Query-Error"); got != "AWS.SimpleQueueService.NonExistentQueue;Sender" {
		t.Errorf("%q, %d %s", got, w.Code, w.Body)
	}
	if want := `{"__type":"QueueDoesNotExist","message":"no queue"}`; w.Body.String() != want {
		t.Errorf("%s, want %s", w.Body, want)
	}
}

// CloudWatch's third protocol, CBOR, works.
func TestCBOR(t *testing.T) {
	t.Parallel()
	s := real(t, "cloudwatch", &aws.Error{Code: "ResourceNotFound", Message: "no dashboard"}, "GetDashboard")
	call := func(path, body string) (*httptest.ResponseRecorder, cbor.Map) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, asked("POST", path, body, "Smithy-Protocol", "rpc-v2-cbor", "Content-Type", "application/cbor"))
		v, err := cbor.Decode(w.Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		m, _ := v.(cbor.Map)
		return w, m
	}
	const path = "/service/GraniteServiceVersion20100801/operation/"
	ask := string(cbor.Encode(cbor.Map{"DashboardName": cbor.String("d")}))
	for _, c := range []struct {
		path, body string
		status     int
		code       string
	}{
		{path + "GetDashboard", ask, 404, "ResourceNotFound"}, {path + "GetDashbord", ask, 404,
			"UnknownOperationException"},
		{"/", ask, 404, "UnknownOperationException"}, {path + "PutDashboard", ask, 501, "NotImplemented"},
		{path + "GetDashboard", "\xff", 400, "SerializationException"}, {path + "GetDashboard", "", 400,
			"ValidationException"},
	} {
		w, m := call(c.path, c.body)
		if w.Code != c.status || m["__type"] != cbor.String(c.code) ||
			w.Header().Get("Smithy-Protocol") != "rpc-v2-cbor" {
			t.Errorf("%s: %d %v %v", c.path, w.Code, m, w.Header())
		}
	}
}

// FuzzRead checks that no body makes a codec panic or hang, in any protocol.
func FuzzRead(f *testing.F) {
	protocols := []model.Protocol{model.JSON, model.Query, model.EC2, model.CBOR, model.RESTJSON, model.RESTXML}
	for i := range protocols {
		f.Add(i, `{"name":"a","tags":[{"key":"k"}]}`)
		f.Add(i, "Action=Check&name=a&tags.member.1.key=k&labels.entry.1.key=a")
		f.Add(i, "<CheckInput><name>a</name><tags><member><key>k</key></member></tags></CheckInput>")
		f.Add(i, "\xa1dname\x61a")
	}
	f.Fuzz(func(t *testing.T, i int, body string) {
		p := protocols[uint(i)%uint(len(protocols))]
		s := serve(t, Config{Operations: map[string]Operation{
			"Check": {Reads: WholeInput{}, Call: func(_ context.Context, r *Request) (*Answer, error) {
				_, err := jsonvalue.Parse(r.Input.JSON())
				return nil, err
			}},
		}}, p)
		uri := "/"
		if p == model.CBOR {
			uri = "/service/Greeter/operation/Check"
		}
		r := asked("POST", uri, body, "X-Amz-Target", "Greeter.Check")
		switch p {
		case model.JSON:
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		case model.CBOR:
			r.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
		default:
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != 501 {
			t.Errorf("%s: %d %s", p, w.Code, w.Body)
		}
	})
}
