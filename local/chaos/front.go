package chaos

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/aws/server"
)

// header is set on responses to requests affected by a fault; its value is the ID of the fault.
const header = "X-Stepback-Fault"

// Front returns a handler that applies the faults to requests of a service before, or instead of, calling next.
// Requests to services implemented with package aws/server are intercepted in that package; this handler intercepts
// only those to S3. If there are no faults, the handler costs one atomic load.
func (s *Set) Front(service string, next http.Handler) http.Handler {
	return &front{set: s, service: service, next: next, own: service == "s3",
		server: sync.OnceValue(func() *server.Service { return server.Must(server.Config{Model: service}) })}
}

type front struct {
	set     *Set
	service string // name of its API model
	next    http.Handler
	own     bool // next is not implemented with package aws/server
	// server reads requests to a service that is not implemented with package aws/server, and writes their
	// refusals.
	server func() *server.Service
}

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	faults := f.set.of(f.service)
	switch {
	case faults == nil:
		f.next.ServeHTTP(w, r)
	case f.own:
		f.serve(w, r, faults)
	default:
		ctx := server.WithInterceptor(r.Context(), f.service,
			func(ctx context.Context, operation string, r *server.Request, next server.Call) (*server.Answer, error) {
				return f.set.intercept(ctx, w.Header(), faults, f.service, operation, r, next)
			})
		f.next.ServeHTTP(w, r.WithContext(ctx))
	}
}

// serve applies faults to a request to a service that is not implemented with package aws/server.
func (f *front) serve(w http.ResponseWriter, r *http.Request, faults []*fault) {
	operation := f.server().Named(w, r)
	if operation == "" {
		f.next.ServeHTTP(w, r)
		return
	}
	_, err := f.set.intercept(r.Context(), w.Header(), faults, f.service, operation, &server.Request{HTTP: r},
		func(ctx context.Context, _ *server.Request) (*server.Answer, error) {
			f.next.ServeHTTP(w, r.WithContext(ctx))
			return &server.Answer{}, nil
		})
	if e, ok := err.(*aws.Error); ok { //nolint:errorlint // intercept wraps nothing, and next never fails
		f.server().Refuse(w, r, e)
	}
}

// intercept carries out an operation, or applies faults to it. It panics with http.ErrAbortHandler to cut the
// connection.
func (s *Set) intercept(ctx context.Context, h http.Header, faults []*fault, service, operation string, r *server.Request,
	next server.Call,
) (*server.Answer, error) {
	var parts []part
	for _, f := range faults {
		if !matches(f.spec.Action, operation) {
			continue
		}
		f.requests.Add(1)
		if f.spec.Error == Partial {
			if b := batches[service+":"+operation]; b != nil {
				parts = append(parts, part{f, b})
			}
			continue
		}
		hit, at, second := f.draw()
		if !hit {
			continue
		}
		f.injected.Add(1)
		h.Set(header, strconv.Itoa(f.id))
		switch f.spec.Error {
		case Latency:
			if !s.sleep(ctx, f.spec.From+time.Duration(at*float64(f.spec.To-f.spec.From))) {
				panic(http.ErrAbortHandler) // the client has gone
			}
		case Hang:
			if r.HTTP != nil && r.HTTP.Body != nil { // the server only notices then that the client has gone
				_, _ = io.Copy(io.Discard, r.HTTP.Body)
			}
			s.hang(ctx, f)
			panic(http.ErrAbortHandler)
		case Crash:
			if second {
				lost(ctx, next, r)
			}
			panic(http.ErrAbortHandler)
		default:
			m, err := model.Find(service)
			if err != nil {
				return nil, err
			}
			e := f.refusal(m, operation)
			if retryable(e) {
				h.Set("Retry-After", "1")           // in seconds
				h.Set(aws.RetryAfterHeader, "1000") // in milliseconds, for the SDKs since November 2026
			}
			return nil, e
		}
	}
	return inPart(ctx, h, parts, r, next)
}

// lost carries out an operation and discards its response.
func lost(ctx context.Context, next server.Call, r *server.Request) {
	_, _ = next(ctx, r)
}
