package lambda

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// maxAnswer is the maximum number of bytes of a function's response that are read. It is Lambda's maximum plus
// space for an error.
const maxAnswer = 6<<20 + 64<<10

// Endpoint is an invocation.Invoker that calls functions through Lambda's REST API: POST
// {URL}/2015-03-31/functions/{name or ARN}/invocations.
type Endpoint struct {
	// URL is the base address of the endpoint. If it is empty, every invocation fails with an error that says what to
	// set.
	URL string
	// Client sends the requests; nil means http.DefaultClient. It should have no timeout: a task's context ends after
	// its TimeoutSeconds.
	Client *http.Client
}

var errNoEndpoint = errors.New("no Lambda endpoint is configured; set LAMBDA_ENDPOINT to the base URL of one")

// Invoke implements invocation.Invoker.
func (e Endpoint) Invoke(ctx context.Context, c *invocation.Request) (*invocation.Answer, error) {
	if e.URL == "" {
		return nil, errNoEndpoint
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address(c), bytes.NewReader(c.Payload))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Amz-Invocation-Type", cmp.Or(c.Type, invocation.RequestResponse))
	if c.LogType != "" {
		r.Header.Set("X-Amz-Log-Type", c.LogType)
	}
	if len(c.ClientContext) > 0 {
		r.Header.Set("X-Amz-Client-Context", base64.StdEncoding.EncodeToString(c.ClientContext))
	}
	answer, err := cmp.Or(e.Client, http.DefaultClient).Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the response of %s is longer than %d bytes", c.FunctionName, maxAnswer)
	}
	return read(answer, body)
}

func (e Endpoint) address(c *invocation.Request) string {
	address := strings.TrimSuffix(e.URL, "/") + "/2015-03-31/functions/" + url.PathEscape(c.FunctionName) +
		"/invocations"
	if c.Qualifier != "" {
		address += "?Qualifier=" + url.QueryEscape(c.Qualifier)
	}
	return address
}

// read converts an HTTP response to an answer or an error of the API.
func read(r *http.Response, body []byte) (*invocation.Answer, error) {
	request := r.Header.Get("X-Amzn-Requestid")
	if r.StatusCode < http.StatusMultipleChoices {
		return &invocation.Answer{
			StatusCode: r.StatusCode, FunctionError: r.Header.Get("X-Amz-Function-Error"), Payload: body,
			ExecutedVersion: r.Header.Get("X-Amz-Executed-Version"), RequestID: request,
			LogTail: logTail(r.Header.Get("X-Amz-Log-Result")),
		}, nil
	}
	var said struct {
		Type    string `json:"__type"`
		Message string // also matches message, which some implementations send
	}
	if json.Unmarshal(body, &said) != nil { // not in the form of an API error
		said.Message = strings.TrimSpace(string(body))
	}
	code, _, _ := strings.Cut(cmp.Or(r.Header.Get("X-Amzn-Errortype"), said.Type, "ServiceException"), ":")
	return nil, &aws.Error{Code: code, Message: said.Message, RequestID: request, Status: r.StatusCode}
}

// logTail decodes the tail of a log from a header. If the header is invalid, it returns no log.
func logTail(header string) []byte {
	text, err := base64.StdEncoding.DecodeString(header)
	if err != nil {
		return nil
	}
	return text
}
