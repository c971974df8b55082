package retry

import "strconv"

// httpRule covers the statuses from "from" to "to", inclusive.
type httpRule struct {
	from, to int
	meaning  string
	verdict  verdict
}

// httpRules are tried in order. A status that leaves open whether the request was processed (500, 504) has an unknown
// outcome. 429 and 503 may carry a Retry-After header, which the caller honours.
var httpRules = []httpRule{
	{401, 401, "Unauthorized", verdict{AccessDenied, Permanent}},
	{403, 403, "Forbidden", verdict{AccessDenied, Permanent}},
	{407, 407, "Proxy Authentication Required", verdict{AccessDenied, Permanent}},
	{408, 408, "Request Timeout", verdict{TimeoutError, Transient}},
	{409, 409, "Conflict", verdict{ConcurrentModificationException, Conflict}},
	{412, 412, "Precondition Failed", verdict{OptimisticLockException, Conflict}},
	{421, 421, "Misdirected Request: another connection may do", verdict{ServiceUnavailableError, Transient}},
	{423, 423, "Locked", verdict{ConcurrentModificationException, Conflict}},
	{425, 425, "Too Early", verdict{ServiceUnavailableError, Transient}},
	{429, 429, "Too Many Requests", verdict{TooManyRequestsError, Transient}},
	{400, 499, "any other client error", verdict{InvalidInput, Permanent}},
	{501, 501, "Not Implemented", verdict{InvalidInput, Permanent}},
	{502, 502, "Bad Gateway", verdict{ServiceUnavailableError, Transient}},
	{503, 503, "Service Unavailable", verdict{ServiceUnavailableError, Transient}},
	{504, 504, "Gateway Timeout", verdict{TimeoutError, UnknownOutcome}},
	{505, 505, "HTTP Version Not Supported", verdict{InvalidInput, Permanent}},
	{511, 511, "Network Authentication Required", verdict{AccessDenied, Permanent}},
	{500, 599, "Internal Server Error and any other server error", verdict{InternalServerError, UnknownOutcome}},
}

// ClassifyHTTP classifies the status of an HTTP response. It is false below 400 and above 599, which are not errors.
func ClassifyHTTP(status int) (Classification, bool) {
	for _, rule := range httpRules {
		if rule.from <= status && status <= rule.to {
			return rule.verdict.of("HTTP status " + strconv.Itoa(status))
		}
	}
	return Classification{}, false
}
