package workspace

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/internal/lazyregexp"
	"stepback/local/endpoint"
)

// Console is the console of a running server. Verbs act through it on a server whose data directory is not on this
// machine, where no AWS API does what they do.
type Console struct{ Endpoint string }

// RefusedError is an action that the console refused.
type RefusedError struct{ Why string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Why }

// maxPage is the maximum number of bytes read of a page.
const maxPage = 4 << 20

// do sends a request and returns the status and the body of the page that it leads to.
func (c Console) do(ctx context.Context, method, path string, form url.Values) (int, []byte, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" {
		return 0, nil, exit.With(exit.Usage, fmt.Errorf("the endpoint %q is not a URL like http://localhost:4566", c.Endpoint))
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Endpoint, "/")+endpoint.ConsolePath+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxPage))
	return answer.StatusCode, body, err
}

// Get returns the body of a page, whose path is below that of the console.
func (c Console) Get(ctx context.Context, path string) ([]byte, error) {
	return c.page(ctx, http.MethodGet, path, nil)
}

func (c Console) page(ctx context.Context, method, path string, form url.Values) ([]byte, error) {
	status, body, err := c.do(ctx, method, path, form)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("%s has no console that does this (%s: %s); use --data, or start stepback serve with --console on",
			c.Endpoint, http.StatusText(status), strings.TrimSpace(string(body[:min(len(body), 200)])))
	}
	return body, nil
}

var (
	tokenPattern  = lazyregexp.New(`name="token" value="([^"]+)"`)
	noticePattern = lazyregexp.New(`class="notice" role="status">([^<]*)<`)
)

// Act submits a form of a page and returns what the console said it did. The error is a *RefusedError if it refused.
func (c Console) Act(ctx context.Context, page, verb string, form url.Values) (string, error) {
	body, err := c.Get(ctx, page)
	if err != nil {
		return "", err
	}
	token := tokenPattern.FindSubmatch(body)
	if token == nil {
		return "", fmt.Errorf("the console of %s is read-only", c.Endpoint)
	}
	form.Set("token", html.UnescapeString(string(token[1])))
	form.Set("back", endpoint.ConsolePath+page)
	if body, err = c.page(ctx, http.MethodPost, "act/"+verb, form); err != nil {
		return "", err
	}
	notice := noticePattern.FindSubmatch(body)
	if notice == nil {
		return "", fmt.Errorf("%s did not say what it did", c.Endpoint)
	}
	said := html.UnescapeString(string(notice[1]))
	if why, refused := strings.CutPrefix(said, "Not done: "); refused {
		return "", &RefusedError{why}
	}
	return said, nil
}
