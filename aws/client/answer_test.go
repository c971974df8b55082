package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// call calls an operation of a service through a transport that gives a fixed response.
func call(t *testing.T, r http.RoundTripper, service, operation, input string) (*client.Response, error) {
	t.Helper()
	s := model.MustFind(service)
	o, err := s.Operation(operation)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonvalue.Parse(input)
	if err != nil {
		t.Fatal(err)
	}
	return caller(r, "").Call(t.Context(), &client.Request{Service: s, Operation: o, Input: v})
}

// endless is a response body that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func (endless) Close() error { return nil }

func TestAnswersThatAreNotWhatTheModelSays(t *testing.T) {
	t.Parallel()
	const html = "<html><body>502 Bad Gateway</body></html>"
	for name, c := range map[string]struct {
		service, operation string
		status             int
		body, want         string
	}{
		"a number where text belongs": {"sqs", "SendMessage", 200, `{"MessageId":7}`,
			"the answer to sqs:SendMessage (status 200) is not what its API says: MessageId: expected string, got 7"},
		"text where a number belongs": {"dynamodb", "Scan", 200, `{"Count":"many"}`,
			`the answer to dynamodb:Scan (status 200) is not what its API says: Count: expected number, got "many"`},
		"a required member is missing": {"sfn", "StartExecution", 200, `{"executionArn":"a"}`,
			"the answer to sfn:StartExecution (status 200) is not what its API says: the member startDate is missing"},
		"text further down": {"sfn", "ListStateMachines", 200, `{"stateMachines":[{"name":[]}]}`,
			"the answer to sfn:ListStateMachines (status 200) is not what its API says: stateMachines[0].name: expected string, got ["},
		"HTML of a proxy": {"dynamodb", "Scan", 200, html,
			"the answer to dynamodb:Scan (status 200) is not what its API says: it is HTML: " + `"` + html + `"`},
		"HTML where XML belongs": {"sns", "Publish", 200, html,
			"the answer to sns:Publish (status 200) is not what its API says: it is HTML: " + `"` + html + `"`},
		"half an answer": {"dynamodb", "Scan", 200, `{"Count":1`,
			"the answer to dynamodb:Scan (status 200) is not what its API says: "},
		"no JSON": {"dynamodb", "Scan", 200, `Count: 1`,
			"the answer to dynamodb:Scan (status 200) is not what its API says: "},
		"half of XML": {"sns", "Publish", 200, `<PublishResponse><PublishResult><MessageId>1`,
			"the answer to sns:Publish (status 200) is not what its API says: "},
		"nests too deep": {"dynamodb", "GetItem", 200,
			`{"Item":{"a":` + strings.Repeat(`{"L":[`, 1000) + strings.Repeat(`]}`, 1000) + `}}`,
			"the answer to dynamodb:GetItem (status 200) is not what its API says: "},
		"too much": {"dynamodb", "Scan", 200, `{"Items":[]` + strings.Repeat(" ", 33<<20) + `}`,
			"the answer to dynamodb:Scan (status 200) is not what its API says: it has 34603020 bytes, more than 33554432"},
		"too much of an error": {"dynamodb", "Scan", 500, strings.Repeat(" ", 2<<20),
			"the answer to dynamodb:Scan (status 500) is not what its API says: it has 2097152 bytes, more than 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := call(t, with(c.status, nil, []byte(c.body)), c.service, c.operation, `{}`)
			var wrong *client.AnswerError
			if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAnAnswerThatNeverEnds(t *testing.T) {
	t.Parallel()
	r := with(200, nil, nil)
	r.answer.Body, r.answer.ContentLength = endless{}, -1
	_, err := call(t, r, "dynamodb", "Scan", `{}`)
	if want := "it has more than 33554432 bytes"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The Content-Length of a HEAD response is the object's length, not the response's.
func TestHeadOfALargeObject(t *testing.T) {
	t.Parallel()
	r := with(200, map[string]string{"Content-Length": "5000000000", "Etag": `"e"`}, nil)
	r.answer.Body, r.answer.ContentLength = http.NoBody, 5_000_000_000
	r.answer.Request = &http.Request{Method: http.MethodHead}
	a, err := call(t, r, "s3", "HeadObject", `{"Bucket":"b","Key":"k"}`)
	if err != nil {
		t.Fatal(err)
	}
	if length, _ := a.Output.Get("ContentLength"); length.Text() != "5000000000" {
		t.Errorf("the object is described as %s", a.Output.JSON())
	}
}

func TestErrorsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service, operation, body string
		status                   int
		code, message            string
	}{
		"HTML of a proxy": {"dynamodb", "Scan", "<html>\n Bad Gateway</html>", 502, "",
			`the answer with status Bad Gateway names no error: "<html> Bad Gateway</html>"`},
		"HTML where XML belongs": {"s3", "ListBuckets", "<html>no</html>", 503, "",
			`the answer with status Service Unavailable names no error: "<html>no</html>"`},
		"nothing": {"s3", "ListBuckets", "", 403, "Forbidden", ""},
		"another JSON": {"dynamodb", "Scan", `[1]`, 400, "",
			`the answer with status Bad Request names no error: "[1]"`},
		"bytes": {"dynamodb", "Scan", "\xff\xfe", 500, "",
			"the answer with status Internal Server Error names no error: 2 bytes that are no text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := call(t, with(c.status, nil, []byte(c.body)), c.service, c.operation, `{}`)
			var e *client.Error
			if !errors.As(err, &e) || e.Code != c.code || e.Message != c.message || e.Status != c.status ||
				e.Shape != "" {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestAContextThatIsDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := model.MustFind("dynamodb")
	o, err := s.Operation("Scan")
	if err != nil {
		t.Fatal(err)
	}
	reading := roundTripper(func(*http.Request) (*http.Response, error) {
		read, write := io.Pipe()
		context.AfterFunc(ctx, func() { _ = write.CloseWithError(context.Canceled) })
		cancel() // while the response is read
		return &http.Response{StatusCode: http.StatusOK, Body: read, ContentLength: -1, Header: http.Header{}}, nil
	})
	_, err = caller(reading, "").Call(ctx, &client.Request{Service: s, Operation: o})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestInputsThatAreNotWhatTheModelSays(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"TableName":7}`:                   "TableName: expected a string, got a number",
		`{"Key":{"id":{"L":[{"S":1}]}}}`:    "Key.id.L[0].S: expected a string, got a number",
		`{"Key":[]}`:                        "Key: expected an object, got an array",
		`{"ConsistentRead":"yes"}`:          "ConsistentRead: expected a boolean, got a string",
		`{"Key":{"id":{"B":"no Base64!"}}}`: "Key.id.B: expected bytes in Base64: illegal base64 data at input byte 2",
	} {
		_, err := call(t, with(200, nil, []byte(`{}`)), "dynamodb", "GetItem", input)
		var wrong *model.ValueError
		if !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", input, err, want)
		}
	}
}

func TestEventStreamsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := call(t, with(200, nil, nil), "kinesis", "SubscribeToShard", `{}`)
	const want = "The action SubscribeToShard of the service kinesis cannot be called: it sends or answers a stream of events"
	var unsupported *client.UnsupportedError
	if !errors.As(err, &unsupported) || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
