package lambda_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// source serves the parts of a response one after the other: it sends each when next is received from.
func source(t *testing.T, parts ...string) (address string, next chan<- struct{}) {
	t.Helper()
	proceed := make(chan struct{}, len(parts))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, p := range parts {
			select {
			case <-proceed:
			case <-r.Context().Done():
				return
			}
			_, _ = io.WriteString(w, p)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, proceed
}

// relay creates a function that streams what its event's URL responds with.
func relay(t *testing.T, c *awslambda.Client, name, contentType string) {
	t.Helper()
	_, err := c.CreateFunction(t.Context(), &awslambda.CreateFunctionInput{FunctionName: &name, Role: sdk.String(role),
		Runtime: types.RuntimeProvidedal2023, Handler: sdk.String("bootstrap"), Timeout: sdk.Int32(60),
		Code: &types.FunctionCode{ZipFile: relaying(t, contentType)}})
	if err != nil {
		t.Fatal(err)
	}
}

// streamed is the end of a streamed invocation.
type streamed struct {
	payload                           string
	chunks                            int
	errorCode, errorDetails, logTail  string
	executedVersion, eventContentType string
}

// collect reads an event stream; each is called after each chunk.
func collect(
	t *testing.T,
	c *awslambda.Client,
	in *awslambda.InvokeWithResponseStreamInput,
	each func(string),
) (s streamed) {
	t.Helper()
	out, err := c.InvokeWithResponseStream(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	s.executedVersion, s.eventContentType = sdk.ToString(
		out.ExecutedVersion,
	), sdk.ToString(
		out.ResponseStreamContentType,
	)
	stream := out.GetStream()
	defer stream.Close()
	for e := range stream.Events() {
		switch e := e.(type) {
		case *types.InvokeWithResponseStreamResponseEventMemberPayloadChunk:
			s.payload += string(e.Value.Payload)
			s.chunks++
			each(string(e.Value.Payload))
		case *types.InvokeWithResponseStreamResponseEventMemberInvokeComplete:
			s.errorCode, s.errorDetails = sdk.ToString(e.Value.ErrorCode), sdk.ToString(e.Value.ErrorDetails)
			s.logTail = sdk.ToString(e.Value.LogResult)
		}
	}
	if err := stream.Err(); err != nil {
		t.Error(err)
	}
	return s
}

// The second part is produced only after the client has received the first one.
func TestInvokeWithResponseStreamPassesPartsOnWhileTheyAreWritten(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	relay(t, c, "F", "text/plain")
	address, next := source(t, "one ", "two")
	next <- struct{}{}
	s := collect(t, c, &awslambda.InvokeWithResponseStreamInput{FunctionName: sdk.String("F"),
		Payload: fmt.Appendf(nil, "%q", address), LogType: types.LogTypeTail}, func(chunk string) {
		if chunk == "one " {
			next <- struct{}{}
		}
	})
	if s.payload != "one two" || s.chunks != 2 || s.errorCode != "" || s.logTail == "" ||
		s.executedVersion != "$LATEST" ||
		s.eventContentType != "application/vnd.amazon.eventstream" {
		t.Errorf("%+v", s)
	}
}

func TestInvokeWithResponseStreamOfAFunctionThatDoesNotStream(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo "$EVENT"`)
	create(t, c, "Fails", `kill $$`)
	s := collect(
		t,
		c,
		&awslambda.InvokeWithResponseStreamInput{FunctionName: sdk.String("F"), Payload: []byte(`{"a":1}`)},
		func(string) {},
	)
	if s.payload != `{"a":1}` || s.chunks != 1 || s.errorCode != "" || s.logTail != "" {
		t.Errorf("%+v", s)
	}
	s = collect(t, c, &awslambda.InvokeWithResponseStreamInput{FunctionName: sdk.String("Fails")}, func(string) {})
	if s.payload != "" || s.errorCode != "Unhandled" ||
		!strings.Contains(s.errorDetails, `"errorType":"Runtime.ExitError"`) {
		t.Errorf("%+v", s)
	}
	_, err := c.InvokeWithResponseStream(
		t.Context(),
		&awslambda.InvokeWithResponseStreamInput{FunctionName: sdk.String("None")},
	)
	if text := refused(t, err); !strings.HasPrefix(text, "ResourceNotFoundException: Function not found: ") {
		t.Error(text)
	}
	out, err := c.InvokeWithResponseStream(
		t.Context(),
		&awslambda.InvokeWithResponseStreamInput{FunctionName: sdk.String("F"),
			InvocationType: types.ResponseStreamingInvocationTypeDryRun},
	)
	if err != nil || out.StatusCode != http.StatusNoContent {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestAFunctionURLStreams(t *testing.T) {
	t.Parallel()
	c, server := serve(t)
	for name, test := range map[string]struct {
		contentType string
		parts       []string
		status      int
		wantType    string
		want        []string
	}{
		"plain": {"text/event-stream", []string{"data: 1\n\n", "data: 2\n\n"}, 200, "text/event-stream",
			[]string{"data: 1\n\n", "data: 2\n\n"}},
		"prelude": {"application/vnd.awslambda.http-integration-response",
			[]string{`{"statusCode":201,"headers":{"Content-Type":"text/html","X-A":"b"},"cookies":["k=v"]}` + "\x00\x00\x00\x00",
				"\x00\x00\x00\x00<p>", "</p>"}, 201, "text/html", []string{"<p>", "</p>"}},
		"prelude only": {"application/vnd.awslambda.http-integration-response",
			[]string{`{"statusCode":204}` + "\x00\x00\x00\x00\x00\x00\x00\x00"}, 204, "application/json", nil},
		"no prelude": {"application/vnd.awslambda.http-integration-response", []string{"hello"}, 502, "application/json",
			[]string{`{"Message":"Internal Server Error"}`}},
		"bad prelude": {"application/vnd.awslambda.http-integration-response",
			[]string{"hello\x00\x00\x00\x00\x00\x00\x00\x00x"}, 502, "application/json",
			[]string{`{"Message":"Internal Server Error"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			function := strings.ReplaceAll(name, " ", "-")
			relay(t, c, function, test.contentType)
			made, err := c.CreateFunctionUrlConfig(
				t.Context(),
				&awslambda.CreateFunctionUrlConfigInput{FunctionName: &function,
					AuthType: types.FunctionUrlAuthTypeNone, InvokeMode: types.InvokeModeResponseStream},
			)
			if err != nil || made.InvokeMode != types.InvokeModeResponseStream {
				t.Fatalf("%+v, %v", made, err)
			}
			address, next := source(t, test.parts...)
			for range max(1, len(test.parts)-1) { // the last part is sent when the one before has arrived
				next <- struct{}{}
			}
			u, err := url.Parse(*made.FunctionUrl)
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/", strings.NewReader(address))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = u.Host
			r.Header.Set("Content-Type", "text/plain")
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			if a.StatusCode != test.status || a.Header.Get("Content-Type") != test.wantType || name == "prelude" &&
				(a.Header.Get("Set-Cookie") != "k=v" || a.Header.Get("X-A") != "b") {
				t.Errorf("%d %v", a.StatusCode, a.Header)
			}
			for i, want := range test.want {
				b := make([]byte, len(want))
				if _, err := io.ReadFull(a.Body, b); err != nil || string(b) != want {
					t.Errorf("%q, %v, want %q", b, err, want)
				}
				if i == 0 {
					next <- struct{}{}
				}
			}
			if rest, err := io.ReadAll(a.Body); err != nil || len(rest) > 0 {
				t.Errorf("%q, %v", rest, err)
			}
		})
	}
}

// A buffered URL waits for the whole response; its function's JSON describes the response only there.
func TestAFunctionURLThatStreamsDoesNotInterpretJSON(t *testing.T) {
	t.Parallel()
	c, server := serve(t)
	create(t, c, "F", `echo '{"statusCode":418,"body":"hi"}'`)
	create(t, c, "Fails", `kill $$`)
	for name, want := range map[string]string{"F": `200 {"statusCode":418,"body":"hi"}`,
		"Fails": `502 {"Message":"Internal Server Error"}`} {
		made, err := c.CreateFunctionUrlConfig(t.Context(), &awslambda.CreateFunctionUrlConfigInput{FunctionName: &name,
			AuthType: types.FunctionUrlAuthTypeNone, InvokeMode: types.InvokeModeResponseStream})
		if err != nil {
			t.Fatal(err)
		}
		if a, body := ask(t, server, *made.FunctionUrl, "GET", ""); fmt.Sprintf("%d %s", a.StatusCode, body) != want {
			t.Errorf("%s: %d %s", name, a.StatusCode, body)
		}
		changed, err := c.UpdateFunctionUrlConfig(
			t.Context(),
			&awslambda.UpdateFunctionUrlConfigInput{FunctionName: &name,
				InvokeMode: types.InvokeModeBuffered},
		)
		if err != nil || changed.InvokeMode != types.InvokeModeBuffered {
			t.Errorf("%+v, %v", changed, err)
		}
		if a, body := ask(
			t,
			server,
			*made.FunctionUrl,
			"GET",
			"",
		); name == "F" &&
			(a.StatusCode != http.StatusTeapot || body != "hi") {
			t.Errorf("%d %s", a.StatusCode, body)
		}
	}
}

// A response that times out half-way is cut off, so that the client does not take it for complete. On a slow machine
// the function may time out before its first part; then it gets twice the time.
func TestAFunctionURLCutsOffAStreamThatFails(t *testing.T) {
	t.Parallel()
	c, server := serve(t)
	relay(t, c, "F", "text/plain")
	name := sdk.String("F")
	made, err := c.CreateFunctionUrlConfig(t.Context(), &awslambda.CreateFunctionUrlConfigInput{FunctionName: name,
		AuthType: types.FunctionUrlAuthTypeNone, InvokeMode: types.InvokeModeResponseStream})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(*made.FunctionUrl, "http://"), "/")
	for timeout := int32(1); ; timeout *= 2 {
		if _, err := c.UpdateFunctionConfiguration(t.Context(),
			&awslambda.UpdateFunctionConfigurationInput{FunctionName: name, Timeout: &timeout}); err != nil {
			t.Fatal(err)
		}
		address, next := source(t, "one", "never")
		next <- struct{}{}
		status, body, err := post(t, server, host, address)
		if status == http.StatusBadGateway && timeout < 900 {
			continue
		}
		if body != "one" || !errors.Is(err, io.ErrUnexpectedEOF) || status != http.StatusOK {
			t.Errorf("%d %q, %v", status, body, err)
		}
		return
	}
}

// post sends a body to a host at the server's address. It returns the status, and the response's body as far as it came
// with the error that cut it off.
func post(t *testing.T, server, host, body string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Content-Type", "text/plain")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return a.StatusCode, string(text), err
}
