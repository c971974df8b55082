package httptask

import (
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// maxCause is the maximum length of the cause of a failed task, in characters.
const maxCause = 32_768

// result converts a response to the task's result, or to an error named after the status.
func result(r *http.Response) (engine.Result, error) {
	text, err := bodyOf(r)
	if err != nil {
		return nil, socketError(err)
	}
	if r.StatusCode < http.StatusOK || r.StatusCode >= http.StatusMultipleChoices {
		return nil, engine.NewFailure("States.Http.StatusCode."+strconv.Itoa(r.StatusCode), shortened(text))
	}
	return parts(r, headers(r.Header, strings.ToLower), text), nil
}

// bodyOf reads a response's body, up to one byte more than the maximum size of a result. The engine rejects a
// result of that size.
func bodyOf(r *http.Response) (string, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, engine.MaxPayload+1))
	return strings.ToValidUTF8(string(body), "\uFFFD"), err
}

// parts returns the result of a successful request.
func parts(r *http.Response, headers jsonvalue.Value, text string) engine.Result {
	const count = 4
	b := jsonvalue.NewObject(count)
	b.Set("Headers", headers)
	b.Set("ResponseBody", content(r.Header.Get("Content-Type"), text))
	b.Set("StatusCode", jsonvalue.OfInt(int64(r.StatusCode)))
	b.Set("StatusText", jsonvalue.OfString(statusText(r)))
	return engine.ValueResult(b.Value())
}

// content returns the value of a JSON body, or any other body as text.
func content(kind, text string) jsonvalue.Value {
	media, _, err := mime.ParseMediaType(kind)
	if err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")) {
		if v, err := jsonvalue.Parse(text); err == nil {
			return v
		}
	}
	return jsonvalue.OfString(text)
}

// headers returns all values of each header, under the name that spelt returns.
func headers(h http.Header, spelt func(string) string) jsonvalue.Value {
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
		b.Set(spelt(name), jsonvalue.OfArray(values))
	}
	return b.Value()
}

// statusText returns the response's reason phrase, or the standard one if it has none.
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
