package httpevent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// returned is what a function returns that says how its answer is.
type returned struct {
	Status  json.RawMessage            `json:"statusCode"`
	Headers map[string]json.RawMessage `json:"headers"`
	Cookies []string                   `json:"cookies"`
	Body    json.RawMessage            `json:"body"`
	Base64  bool                       `json:"isBase64Encoded"`
}

// Understood reports whether an answer can be made of what a function returned.
func Understood(payload []byte) bool {
	var r returned
	if json.Unmarshal(payload, &r) != nil || r.Status == nil {
		return true
	}
	status := 0
	_, err := fmt.Sscanf(strings.Trim(string(r.Status), `"`), "%d", &status)
	_, ok := bodyOf(&r)
	return ok && err == nil && status >= 200 && status <= 599
}

// Write writes what a function returned: an object with a statusCode says how the answer is, anything else is the body
// of an answer with status 200. What cannot be understood is answered with 502, which it reports.
func Write(w http.ResponseWriter, payload []byte) (understood bool) {
	var r returned
	if json.Unmarshal(payload, &r) != nil || r.Status == nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(payload) // a client that has gone is nobody to tell
		return true
	}
	status := 0
	if _, err := fmt.Sscanf(strings.Trim(string(r.Status), `"`), "%d", &status); err != nil || status < 200 || status > 599 {
		Refuse(w, http.StatusBadGateway, "Internal Server Error")
		return false
	}
	body, ok := bodyOf(&r)
	if !ok {
		Refuse(w, http.StatusBadGateway, "Internal Server Error")
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range r.Headers {
		w.Header().Set(name, textOf(value))
	}
	for _, cookie := range r.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return true
}

// bodyOf is the body that a function returned: a text, or JSON as it is.
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

// textOf is a JSON string's text, or other JSON as it is.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

// Refuse answers with a message that does not come from a function.
func Refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body, err := json.Marshal(struct{ Message string }{message})
	if err == nil {
		_, _ = w.Write(body)
	}
}
