package httptask

import (
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"stepback/asl/jsonvalue"
	"stepback/engine"
	"stepback/engine/interpreter"
)

// maxCause is how long the cause of a failed task may be, in characters.
const maxCause = 32_768

// result is what a response comes to: its parts, or an error named after the status.
func result(r *http.Response) (engine.Result, error) {
	// One byte more than a result may have: the engine refuses it then.
	body, err := io.ReadAll(io.LimitReader(r.Body, interpreter.MaxPayload+1))
	if err != nil {
		return nil, socketError(err)
	}
	text := strings.ToValidUTF8(string(body), "\uFFFD")
	if r.StatusCode < http.StatusOK || r.StatusCode >= http.StatusMultipleChoices {
		return nil, &engine.TaskError{Name: "States.Http.StatusCode." + strconv.Itoa(r.StatusCode), Cause: shortened(text)}
	}
	const parts = 4
	b := jsonvalue.NewObject(parts)
	b.Set("Headers", headers(r.Header))
	b.Set("ResponseBody", content(r.Header.Get("Content-Type"), text))
	b.Set("StatusCode", jsonvalue.OfInt(int64(r.StatusCode)))
	b.Set("StatusText", jsonvalue.OfString(statusText(r)))
	return interpreter.ValuePayload(b.Value()), nil
}

// content is a JSON body's value; any other body is text.
func content(kind, text string) jsonvalue.Value {
	media, _, err := mime.ParseMediaType(kind)
	if err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")) {
		if v, err := jsonvalue.Parse(text); err == nil {
			return v
		}
	}
	return jsonvalue.OfString(text)
}

// headers lists all values of each header, under names in lower case.
func headers(h http.Header) jsonvalue.Value {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	b := jsonvalue.NewObject(len(names))
	for _, name := range names {
		values := make([]jsonvalue.Value, len(h[name]))
		for i, v := range h[name] {
			values[i] = jsonvalue.OfString(v)
		}
		b.Set(strings.ToLower(name), jsonvalue.OfArray(values))
	}
	return b.Value()
}

// statusText is the reason that the response gives, or the usual one.
func statusText(r *http.Response) string {
	if _, reason, ok := strings.Cut(r.Status, " "); ok && reason != "" {
		return reason
	}
	return http.StatusText(r.StatusCode)
}

func shortened(text string) string {
	if len(text) <= maxCause {
		return text
	}
	return strings.ToValidUTF8(text[:maxCause], "")
}
