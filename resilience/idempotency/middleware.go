package idempotency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stepback/retry"
)

// Header is the request header that carries the key. Replayed is the response header that marks the answer of an
// earlier request.
const (
	Header   = "Idempotency-Key"
	Replayed = "Idempotency-Replayed"
)

// HTTP configures the middleware; the zero value is usable.
type HTTP struct {
	// Methods are the guarded methods; nil means POST and PATCH. Requests with other methods pass through.
	Methods []string
	// Required rejects guarded requests without a key, with status 400. If it is false, they pass through.
	Required bool
	// Principal identifies the sender of a request. Keys of different principals are independent, even if they are
	// equal. Return the authenticated user if there is one. nil treats all senders as one principal.
	Principal func(*http.Request) string
	// MaxRequest is the maximum size of a guarded request's body, in bytes; 0 means 1 MiB.
	MaxRequest int64
	// Release reports whether a status releases the key, so that the request runs again when it is repeated. By
	// default these are the statuses that mean that nothing happened and that the request may be repeated (408, 425,
	// 429, 502, 503 and the like). All other answers are kept, including errors.
	Release func(status int) bool
}

// defaultMaxRequest is the default of HTTP.MaxRequest.
const defaultMaxRequest = 1 << 20

// maxHeaderKey is the maximum length of a request's key.
const maxHeaderKey = 255

// Middleware guards a handler. The handler's answer is held back until it is stored, so a guarded handler cannot
// stream. If the client disconnects, the handler's context does not end: the request is completed, and the client
// gets the answer when it repeats the request. The context ends when the lease is lost.
//
// The middleware itself answers with application/problem+json: 400 for a key that is missing or malformed, 409 with
// Retry-After while the first request runs, 413 for a body that is too long, 422 for a different request under a used
// key, and 503 if the store fails.
func (g *Guard) Middleware(h HTTP) func(http.Handler) http.Handler {
	if h.Methods == nil {
		h.Methods = []string{http.MethodPost, http.MethodPatch}
	}
	if h.MaxRequest <= 0 {
		h.MaxRequest = defaultMaxRequest
	}
	if h.Principal == nil {
		h.Principal = func(*http.Request) string { return "" }
	}
	if h.Release == nil {
		h.Release = isTransient
	}
	guarded := map[string]bool{}
	for _, m := range h.Methods {
		guarded[m] = true
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !guarded[r.Method] {
				next.ServeHTTP(w, r)
				return
			}
			key, there, ok := keyOf(r.Header.Values(Header))
			switch {
			case !ok:
				problem(w, http.StatusBadRequest,
					"The "+Header+" header has to be one string of 1 to 255 printable characters.", 0)
			case there:
				g.serve(w, r, h, key, next)
			case h.Required:
				problem(
					w,
					http.StatusBadRequest,
					"This operation needs an "+Header+
						" header: a new UUID for each operation, and the same UUID for retries.",
					0,
				)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

// isTransient reports whether a status means that nothing happened and that the request may be repeated.
func isTransient(status int) bool {
	c, failed := retry.ClassifyHTTP(status)
	return failed && c.Class == retry.Transient
}

// keyOf parses the key in a header. It accepts a quoted string as in RFC 8941, and an unquoted one, which many
// clients send.
func keyOf(values []string) (key string, there, ok bool) {
	if len(values) == 0 {
		return "", false, true
	}
	key = strings.TrimSpace(values[0])
	if len(values) > 1 {
		return "", true, false
	}
	if quoted, found := strings.CutPrefix(key, `"`); found {
		if key, found = strings.CutSuffix(quoted, `"`); !found {
			return "", true, false
		}
		key = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(key)
	}
	if key == "" || len(key) > maxHeaderKey {
		return "", true, false
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return "", true, false
		}
	}
	return key, true, true
}

func (g *Guard) serve(w http.ResponseWriter, r *http.Request, h HTTP, key string, next http.Handler) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.MaxRequest))
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			problem(w, http.StatusRequestEntityTooLarge,
				"The body of a request with an "+Header+" may have "+strconv.FormatInt(h.MaxRequest, 10)+" bytes.", 0)
		} else {
			problem(w, http.StatusBadRequest, "The body could not be read.", 0)
		}
		return
	}
	full := r.Method + " " + h.Principal(r) + "\n" + key
	result, err := g.Once(r.Context(), full, fingerprint(r, body), func(ctx context.Context) (Answer, bool, error) {
		ctx, cancel := detached(ctx)
		defer cancel()
		recorder := &recorder{header: http.Header{}}
		inner := r.WithContext(ctx)
		inner.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(recorder, inner)
		a := recorder.answer()
		return a, !h.Release(a.Status), nil
	})
	if err != nil {
		g.refuse(w, key, err)
		return
	}
	maps.Copy(w.Header(), result.Answer.Header)
	if result.Replayed {
		w.Header().Set(Replayed, "true")
	}
	w.WriteHeader(result.Answer.Status)
	_, _ = w.Write(result.Answer.Body) // an error means that the client has disconnected
}

// detached returns a context that ends only if the lease is lost, not when ctx ends otherwise.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), ErrLeaseLost) {
			cancel(ErrLeaseLost)
		}
	})
	return inner, func() { stop(); cancel(nil) }
}

// refuse sends an error response for a request whose handler does not run.
func (g *Guard) refuse(w http.ResponseWriter, key string, err error) {
	var running *RunningError
	switch {
	case errors.As(err, &running):
		problem(w, http.StatusConflict, "A request with this "+Header+" is still running.", max(running.After, time.Second))
	case errors.Is(err, ErrMismatch):
		problem(w, http.StatusUnprocessableEntity, "This "+Header+" was used for another request: use a new one.", 0)
	case errors.Is(err, ErrAnswerTooLong):
		problem(w, http.StatusConflict,
			"The request with this "+Header+" was executed, but its response was too long to store.", 0)
	case errors.Is(err, ErrKey):
		problem(w, http.StatusBadRequest, "The "+Header+" is too long.", 0)
	case errors.Is(err, ErrLeaseLost):
		problem(w, http.StatusConflict, "Another server took over this request: retry to get the response.",
			time.Second)
	default:
		g.report(key, err)
		problem(w, http.StatusServiceUnavailable,
			"The server cannot check now whether this request was already executed: retry later.", time.Second)
	}
}

// fingerprint returns the SHA-256 of what identifies a request: method, target, media type and body.
func fingerprint(r *http.Request, body []byte) []byte {
	sum := sha256.New()
	for _, part := range []string{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type")} {
		_, _ = sum.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	_, _ = sum.Write(body)
	return sum.Sum(nil)
}

// problem writes an error in the format of RFC 9457.
func problem(w http.ResponseWriter, status int, detail string, after time.Duration) {
	if after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // an error means that the client has disconnected
		"title": http.StatusText(status), "status": status, "detail": detail,
	})
}

// recorder is the http.ResponseWriter of a guarded handler.
type recorder struct {
	header http.Header
	sent   http.Header // a copy made when the status was written
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK { // informational responses are not recorded
		r.status, r.sent = status, r.header.Clone()
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorder) answer() Answer {
	r.WriteHeader(http.StatusOK)
	return Answer{Status: r.status, Header: r.sent, Body: r.body.Bytes()}
}
