package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"stepback/tasks/lambda/invocation"
)

// runtimeAPI implements the Lambda Runtime API (version 2018-06-01) for one process.
type runtimeAPI struct {
	// ready can be received from when the process asks for an event. The event is then sent to the channel events.
	ready  chan struct{}
	events chan *event

	server *http.Server
	served chan struct{}
	closed chan struct{}

	packages func(context.Context, string) (string, error) // Function.Packages
	waited   stopwatch                                     // time spent waiting for packages

	mu      sync.Mutex
	current *event
	initErr *answer
}

// event is a call to which the process has not responded yet.
type event struct {
	*call
	deadline time.Time
	answers  chan answer
	// parts passes a streamed response, one part at a time, to the goroutine of the caller, which writes each to the
	// caller's stream and sends the result to taken. over is closed when the caller has stopped waiting.
	parts chan part
	taken chan error
	over  chan struct{}
}

func newEvent(c *call) *event {
	return &event{call: c, deadline: deadlineAfter(c.timeout), answers: make(chan answer, 1),
		parts: make(chan part), taken: make(chan error, 1), over: make(chan struct{})}
}

func serveRuntimeAPI(l net.Listener, packages func(context.Context, string) (string, error)) *runtimeAPI {
	api := &runtimeAPI{
		packages: packages,
		ready:    make(chan struct{}), events: make(chan *event),
		served: make(chan struct{}), closed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	const base = "/2018-06-01/runtime"
	mux.HandleFunc("GET "+base+"/invocation/next", api.next)
	mux.HandleFunc("POST "+base+"/invocation/{id}/response", api.response)
	mux.HandleFunc("POST "+base+"/invocation/{id}/error", api.failure)
	mux.HandleFunc("POST "+base+"/init/error", api.initError)
	mux.HandleFunc("POST /stepback/packages", api.bring)
	api.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(api.served)
		_ = api.server.Serve(l) // ends with ErrServerClosed
	}()
	return api
}

func (api *runtimeAPI) close() {
	close(api.closed)
	_ = api.server.Close()
	<-api.served
}

// next waits for the next event and sends it to the process.
func (api *runtimeAPI) next(w http.ResponseWriter, r *http.Request) {
	select {
	case api.ready <- struct{}{}:
	case <-r.Context().Done():
		return
	case <-api.closed:
		return
	}
	select {
	case e := <-api.events:
		api.deliver(w, e)
	case <-r.Context().Done():
	case <-api.closed:
	}
}

func (api *runtimeAPI) deliver(w http.ResponseWriter, e *event) {
	api.mu.Lock()
	api.current = e
	api.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", e.requestID)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(e.deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", e.arn)
	trace := e.trace
	if trace == "" {
		trace = "Root=1-00000000-" + e.requestID[24:] + e.requestID[:8] + e.requestID[9:13] + ";Sampled=0"
	}
	h.Set("Lambda-Runtime-Trace-Id", trace)
	if e.tenant != "" {
		h.Set("Lambda-Runtime-Aws-Tenant-Id", e.tenant)
	}
	if len(e.clientContext) > 0 {
		h.Set("Lambda-Runtime-Client-Context", string(e.clientContext))
	}
	_, _ = w.Write(e.payload) // if the process has exited, that is detected elsewhere
}

// response receives the function's response.
func (api *runtimeAPI) response(w http.ResponseWriter, r *http.Request) {
	e := api.take(w, r)
	if e == nil {
		return
	}
	if e.stream != nil && streams(r) {
		e.answers <- e.passOn(w, r)
		return
	}
	payload, size, err := readLimited(r.Body)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "InvalidStateTransition", err.Error())
		e.answers <- failure("Runtime.TruncatedResponse", err.Error())
	case size > invocation.MaxResponseBytes:
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			fmt.Sprintf("Exceeded maximum allowed payload size (%d bytes).", invocation.MaxResponseBytes))
		e.answers <- responseTooLarge(size)
	default:
		accept(w)
		a := withTrailer(payload, r.Trailer)
		a.contentType = r.Header.Get("Content-Type")
		e.answers <- a
	}
}

// withTrailer returns the answer for a streamed response. If streaming failed, it is the error in the trailers.
func withTrailer(payload []byte, trailer http.Header) answer {
	if trailer.Get("Lambda-Runtime-Function-Error-Type") == "" {
		return answer{payload: payload}
	}
	body, err := base64.StdEncoding.DecodeString(trailer.Get("Lambda-Runtime-Function-Error-Body"))
	if err != nil || len(body) == 0 {
		return failure(trailer.Get("Lambda-Runtime-Function-Error-Type"), "The response stream failed")
	}
	return answer{payload: body, failed: true}
}

// failure receives the function's error.
func (api *runtimeAPI) failure(w http.ResponseWriter, r *http.Request) {
	e := api.take(w, r)
	if e == nil {
		return
	}
	a := readError(r)
	accept(w)
	e.answers <- a
}

// initError receives the reason why the process will exit before its first event.
func (api *runtimeAPI) initError(w http.ResponseWriter, r *http.Request) {
	a := readError(r)
	api.mu.Lock()
	api.initErr = &a
	api.mu.Unlock()
	accept(w)
}

func (api *runtimeAPI) initFailure() *answer {
	api.mu.Lock()
	defer api.mu.Unlock()
	return api.initErr
}

// take returns the event to which the request responds. Each event can be taken only once.
func (api *runtimeAPI) take(w http.ResponseWriter, r *http.Request) *event {
	api.mu.Lock()
	defer api.mu.Unlock()
	e := api.current
	if e == nil || e.requestID != r.PathValue("id") {
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return nil
	}
	api.current = nil
	return e
}

func readError(r *http.Request) answer {
	payload, _, err := readLimited(r.Body)
	if err == nil && len(payload) > 0 {
		return answer{payload: payload, failed: true, logged: true}
	}
	errorType := r.Header.Get("Lambda-Runtime-Function-Error-Type")
	if errorType == "" {
		errorType = "Runtime.Unknown"
	}
	return failure(errorType, "The runtime reported an error without a description")
}

// readLimited reads up to the maximum response size and counts the bytes beyond it.
func readLimited(r io.Reader) (payload []byte, size int, err error) {
	payload, err = io.ReadAll(io.LimitReader(r, invocation.MaxResponseBytes+1))
	if err != nil {
		return nil, 0, err
	}
	rest, err := io.Copy(io.Discard, r)
	return payload, len(payload) + int(rest), err
}

func accept(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`)
}

func refuse(w http.ResponseWriter, status int, errorType, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"errorType": errorType, "errorMessage": message})
}
