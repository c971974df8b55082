package httpevent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// returned is a function's result in the form that describes the HTTP response.
type returned struct {
	Status  json.RawMessage            `json:"statusCode"`
	Headers map[string]json.RawMessage `json:"headers"`
	Cookies []string                   `json:"cookies"`
	Body    json.RawMessage            `json:"body"`
	Base64  bool                       `json:"isBase64Encoded"`
}

// Understood reports whether payload, a function's result, can be converted to an HTTP response.
func Understood(payload []byte) bool {
	var r returned
	if json.Unmarshal(payload, &r) != nil || r.Status == nil {
		return true
	}
	_, valid := statusOf(r.Status)
	_, ok := bodyOf(&r)
	return ok && valid
}

// statusOf returns the status code that a function returned, as a number or a string.
func statusOf(text json.RawMessage) (status int, ok bool) {
	_, err := fmt.Sscanf(strings.Trim(string(text), `"`), "%d", &status)
	return status, err == nil && status >= 200 && status <= 599
}

// writeHeaders sets the headers and the cookies that a function returned.
func writeHeaders(h http.Header, r *returned) {
	for name, value := range r.Headers {
		h.Set(name, textOf(value))
	}
	for _, cookie := range r.Cookies {
		h.Add("Set-Cookie", cookie)
	}
}

// Write converts payload, a function's result, to an HTTP response and writes it. An object with a statusCode
// describes the response; anything else is the body of a response with status 200. If the result cannot be
// converted, Write responds with status 502 and returns false.
func Write(w http.ResponseWriter, payload []byte) (understood bool) {
	var r returned
	if json.Unmarshal(payload, &r) != nil || r.Status == nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(payload) // the client may have disconnected
		return true
	}
	status, ok := statusOf(r.Status)
	if !ok {
		Refuse(w, http.StatusBadGateway, "Internal Server Error")
		return false
	}
	body, ok := bodyOf(&r)
	if !ok {
		Refuse(w, http.StatusBadGateway, "Internal Server Error")
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	writeHeaders(w.Header(), &r)
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return true
}

// bodyOf returns the body that a function returned: a string's text, or any other JSON as it is.
func bodyOf(r *returned) ([]byte, bool) {
	if r.Body == nil || string(r.Body) == "null" {
		return nil, true
	}
	text := textOf(r.Body)
	if !r.Base64 {
		return []byte(text), true
	}
	body, err := base64.StdEncoding.DecodeString(text)
	return body, err == nil
}

// textOf returns a JSON string's text, or any other JSON as it is.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

// Refuse writes an error response that does not come from a function.
func Refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body, err := json.Marshal(struct{ Message string }{message})
	if err == nil {
		_, _ = w.Write(body)
	}
}
