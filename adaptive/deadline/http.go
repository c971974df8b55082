package deadline

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Header is the request header that carries the time which the caller has left, in milliseconds. It is a duration and
// not a time, so clocks need not agree. Envoy and Istio send the same header to the services behind them.
const Header = "X-Envoy-Expected-Rq-Timeout-Ms"

// SetHeader sets [Header] to the time until the deadline of ctx, rounded down to milliseconds and never below 0. If ctx
// has no deadline, it sets nothing and keeps an existing value.
func SetHeader(h http.Header, ctx context.Context, now time.Time) { //nolint:revive // h is changed, as in io.Copy
	if left, ok := Left(ctx, now, 0); ok {
		h.Set(Header, strconv.FormatInt(max(left, 0).Milliseconds(), 10))
	}
}

// FromHeader returns the time that the caller had left when it sent the request; false if [Header] is missing or is not
// a whole number of milliseconds from 0.
func FromHeader(h http.Header) (time.Duration, bool) {
	const longest = 365 * 24 * time.Hour
	ms, err := strconv.ParseUint(h.Get(Header), 10, 63)
	if err != nil {
		return 0, false
	}
	return time.Duration(min(ms, uint64(longest/time.Millisecond))) * time.Millisecond, true
}

// Handler ends the context of each request when its caller, by [Header], stops waiting, less the margin. Calls that
// next makes with this context then end too, and pass the rest of the time on. A request whose caller has no time left
// is refused with status 504, and next is not called. A request without the header is passed on unchanged.
func Handler(next http.Handler, margin time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		left, ok := FromHeader(r.Header)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		if left -= margin; left <= 0 {
			http.Error(w, (&TooLateError{Left: left}).Error(), http.StatusGatewayTimeout)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), left)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
