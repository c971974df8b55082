package apigateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/smithy-go"
)

// callService calls an operation of a service.
func (s *Service) callService(ctx context.Context, w *answer, q *clientRequest, c *calledAPI, i *integration) {
	of := subtypes[i.IntegrationSubtype]
	in := q.parameters(i)
	for _, name := range of.required {
		if in[name] == nil {
			w.refuse(http.StatusBadRequest, "Bad Request", "Parameter: "+name+" could not be resolved")
			return
		}
	}
	if of.of != nil {
		in = of.of(in)
	}
	scope := c.scope()
	if region := i.RequestParameters["Region"]; region != "" {
		scope.Region = region
	}
	var out json.RawMessage
	err := s.o.API(scope, i.CredentialsArn).Call(ctx, of.service, of.operation, in, &out)
	shown := shape(w, q, c, i)
	shown.Header().Set("Content-Type", "application/json")
	var refused smithy.APIError
	switch {
	case err == nil:
		_, _ = shown.Write(out)
	case errors.As(err, &refused):
		status := http.StatusBadRequest
		if refused.ErrorFault() == smithy.FaultServer {
			status = http.StatusInternalServerError
		}
		w.wrong = refused.ErrorMessage()
		body, _ := json.Marshal(map[string]string{"__type": refused.ErrorCode(), "message": refused.ErrorMessage()})
		shown.WriteHeader(status)
		_, _ = shown.Write(body)
	default:
		s.failed(w, c, i, err)
	}
}

// callServer forwards a request to an HTTP server.
func (s *Service) callServer(ctx context.Context, w *answer, q *clientRequest, c *calledAPI, i *integration) {
	target := i.IntegrationURI
	for name, value := range q.variables {
		target = strings.NewReplacer("{"+name+"}", escapedPath(value), "{"+name+"+}", escapedPath(value)).Replace(target)
	}
	u, err := url.Parse(target)
	if err != nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
		return
	}
	query := q.URL.Query()
	for name, values := range u.Query() {
		query[name] = values
	}
	header := q.Header.Clone()
	for name, expression := range i.RequestParameters {
		action, of, _ := strings.Cut(name, ":")
		kind, what, _ := strings.Cut(of, ".")
		v, _ := q.evaluate(expression)
		text := textOf(v)
		switch kind {
		case "header":
			edit(action, text, func() { header.Del(what) }, func() { header.Add(what, text) })
		case "querystring":
			edit(action, text, func() { query.Del(what) }, func() { query.Add(what, text) })
		case "path":
			u.Path, u.RawPath = text, ""
		}
	}
	u.RawQuery = query.Encode()
	method := i.IntegrationMethod
	if method == "ANY" {
		method = q.Method
	}
	//nolint:gosec // the owner of the API says where its requests go
	out, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(string(q.body)))
	if err != nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
		return
	}
	for _, hop := range []string{"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Connection"} {
		header.Del(hop)
	}
	header.Set("Forwarded", fmt.Sprintf("by=127.0.0.1;for=%s;host=%s;proto=http", sourceOf(q.Request), q.Host))
	out.Header = header
	response, err := s.o.Proxy.RoundTrip(out)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.refuse(http.StatusServiceUnavailable, wordsUnavailable, "Integration timed out")
			return
		}
		w.refuse(http.StatusServiceUnavailable, wordsUnavailable, err.Error())
		return
	}
	defer response.Body.Close()
	shown := shape(w, q, c, i)
	for name, values := range response.Header {
		if name != "Connection" && name != "Transfer-Encoding" && name != "Keep-Alive" {
			shown.Header()[name] = values
		}
	}
	shown.WriteHeader(response.StatusCode)
	_, _ = io.Copy(shown, io.LimitReader(response.Body, maxBody)) // an error means that the client has disconnected
}

// escapedPath escapes a value for a path, except for its slashes.
func escapedPath(text string) string { return strings.ReplaceAll(url.PathEscape(text), "%2F", "/") }

// edit appends, overwrites or removes a header or a parameter.
func edit(action, text string, remove, add func()) {
	if action == "remove" || action == "overwrite" {
		remove()
	}
	if action != "remove" && text != "" {
		add()
	}
}

// shaped is a response whose status and headers are changed by an integration's response parameters.
type shaped struct {
	*answer
	q *clientRequest
	i *integration
	// cors holds the gateway's CORS headers, which replace the function's; nil if there are none.
	cors http.Header
	done bool
}

func shape(w *answer, q *clientRequest, c *calledAPI, i *integration) *shaped {
	to := &shaped{answer: w, q: q, i: i}
	if c.CorsConfiguration != nil {
		to.cors = crossOrigin(w.Header())
	}
	return to
}

// crossOrigin returns the CORS headers among h.
func crossOrigin(h http.Header) http.Header {
	found := http.Header{}
	for name, values := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			found[name] = slices.Clone(values)
		}
	}
	return found
}

// WriteHeader implements http.ResponseWriter.
func (w *shaped) WriteHeader(status int) {
	if w.done {
		return
	}
	w.done = true
	for name, expression := range w.i.ResponseParameters[strconv.Itoa(status)] {
		v, _ := w.q.evaluate(expression)
		action, of, _ := strings.Cut(name, ":")
		if of == "statuscode" {
			if n, err := strconv.Atoi(textOf(v)); err == nil && n >= 200 && n <= 599 {
				status = n
			}
			continue
		}
		header, text := strings.TrimPrefix(of, "header."), textOf(v)
		edit(action, text, func() { w.Header().Del(header) }, func() { w.Header().Add(header, text) })
	}
	if w.cors != nil {
		for name := range crossOrigin(w.Header()) {
			w.Header().Del(name)
		}
		maps.Copy(w.Header(), w.cors)
	}
	w.answer.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *shaped) Write(b []byte) (int, error) {
	if !w.done {
		w.WriteHeader(http.StatusOK)
	}
	return w.answer.Write(b)
}
