package httptask

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"stepback/engine"
)

// Timeout is the time that the endpoint may take to respond.
const Timeout = 60 * time.Second

// Integration performs http:invoke.
type Integration struct {
	// Region appears in the User-Agent header.
	Region string
	// Connections provides the authorization of requests; if it is nil, requests are sent without any.
	Connections Connections
	// Transport sends the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// CheckParameters implements engine.ParameterChecker.
func (i *Integration) CheckParameters(t *engine.Task) error {
	params, err := t.Value()
	if err != nil {
		return err
	}
	if _, problems := describe(params); len(problems) > 0 {
		return unusable(t.Parameters, problems)
	}
	return nil
}

// Invoke implements engine.Integration.
func (i *Integration) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	d, problems := describe(params)
	if len(problems) > 0 {
		return nil, unusable(t.Parameters, problems)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	trace := traceOf(ctx)
	trace.describe(ctx, d, i.Region)
	if i.Connections != nil {
		c, err := i.Connections.Find(ctx, d.connection)
		if err != nil {
			return nil, err
		}
		if err := i.authorize(ctx, d, c); err != nil {
			return nil, err
		}
	}
	r, err := d.request(ctx, i.Region)
	if err != nil {
		return nil, err
	}
	trace.send(r, d)
	return i.exchange(r, trace)
}

// exchange sends a request and returns the result. The trace may be nil.
func (i *Integration) exchange(r *http.Request, trace *Trace) (engine.Result, error) {
	answer, err := i.client().Do(r)
	if err != nil {
		return nil, socketError(err)
	}
	defer answer.Body.Close()
	defer trace.receive(answer)()
	return result(answer)
}

func (i *Integration) client() *http.Client {
	return &http.Client{Transport: i.Transport, CheckRedirect: stay}
}

// stay is a redirect policy that follows no redirects.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// unusable returns the error for parameters that describe no valid request.
func unusable(parameters string, problems []string) error {
	return engine.NewFailure(engine.StatesRuntime, "The Parameters '"+parameters+
		"' could not be used to start the Task: ["+strings.Join(problems, ", ")+"]")
}

// socketError returns the error for a request without a response. It omits the address, whose query may contain a
// secret.
func socketError(err error) error {
	return engine.NewFailure("States.Http.Socket", cause(err))
}

// cause returns an error's text without the address.
func cause(err error) string {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}
