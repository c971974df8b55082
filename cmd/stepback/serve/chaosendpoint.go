package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/local/chaos"
	"stepback/local/endpoint"
)

// remoteConsole is the console of a running server, through which the faults of a server without a data directory on
// this machine are changed.
type remoteConsole struct{ endpoint string }

// maxPage is the maximum number of bytes read of a page.
const maxPage = 4 << 20

// do sends a request and returns the body of the page that it leads to.
func (c *remoteConsole) do(ctx context.Context, method, path string, form url.Values) ([]byte, error) {
	u, err := url.Parse(c.endpoint)
	if err != nil || u.Host == "" {
		return nil, exit.With(exit.Usage, fmt.Errorf("the endpoint %q is not a URL like http://localhost:4566", c.endpoint))
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.endpoint, "/")+endpoint.ConsolePath+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxPage))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s has no console that changes faults (%s: %s); use --data, or start stepback serve with --console on",
			c.endpoint, answer.Status, strings.TrimSpace(string(body[:min(len(body), 200)])))
	}
	return body, nil
}

// faults returns the active faults.
func (c *remoteConsole) faults(ctx context.Context) ([]chaos.Fault, error) {
	body, err := c.do(ctx, http.MethodGet, "chaos?format=json", nil)
	if err != nil {
		return nil, err
	}
	var view struct {
		Faults []chaos.Fault `json:"faults"`
	}
	if err := json.Unmarshal(body, &view); err != nil {
		return nil, fmt.Errorf("%s is not a server of stepback: %w", c.endpoint, err)
	}
	return append([]chaos.Fault{}, view.Faults...), nil
}

var (
	tokenPattern  = regexp.MustCompile(`name="token" value="([^"]+)"`)
	noticePattern = regexp.MustCompile(`class="notice" role="status">([^<]*)<`)
)

// act submits a form of the console's page of faults. It fails with what the page then says, if the server refused it.
func (c *remoteConsole) act(ctx context.Context, verb string, form url.Values) error {
	page, err := c.do(ctx, http.MethodGet, "chaos", nil)
	if err != nil {
		return err
	}
	token := tokenPattern.FindSubmatch(page)
	if token == nil {
		return fmt.Errorf("the console of %s is read-only", c.endpoint)
	}
	form.Set("token", html.UnescapeString(string(token[1])))
	form.Set("back", endpoint.ConsolePath+"chaos")
	page, err = c.do(ctx, http.MethodPost, "act/"+verb, form)
	if err != nil {
		return err
	}
	notice := noticePattern.FindSubmatch(page)
	if notice == nil {
		return fmt.Errorf("%s did not say what it did", c.endpoint)
	}
	if why, refused := strings.CutPrefix(html.UnescapeString(string(notice[1])), "Not done: "); refused {
		return exit.With(exit.Usage, errors.New(why))
	}
	return nil
}

// at adds the faults at an endpoint.
func (c *ChaosAdd) at(ctx context.Context, std terminal.Streams) error {
	if c.File != "" {
		return exit.With(exit.Usage, errors.New("--file is not available with --endpoint: write its faults as arguments, or use --data"))
	}
	server := &remoteConsole{c.Endpoint}
	before, err := server.faults(ctx)
	if err != nil {
		return err
	}
	for _, f := range c.Fault {
		form := url.Values{"fault": {f}, "seed": {strconv.FormatUint(c.Seed, 10)}}
		if c.For > 0 {
			form.Set("for", c.For.String())
		}
		if err := server.act(ctx, "add-fault", form); err != nil {
			return err
		}
	}
	faults, err := server.faults(ctx)
	if err != nil {
		return err
	}
	if len(c.Fault) > 0 {
		faults = added(before, faults)
	}
	return printFaults(std, faults, c.JSON)
}

// added returns the faults that were not active before.
func added(before, after []chaos.Fault) []chaos.Fault {
	known := map[int]bool{}
	for i := range before {
		known[before[i].ID] = true
	}
	fresh := []chaos.Fault{}
	for i := range after {
		if !known[after[i].ID] {
			fresh = append(fresh, after[i])
		}
	}
	return fresh
}

// at lifts faults at an endpoint.
func (c *ChaosLift) at(ctx context.Context, std terminal.Streams) error {
	server := &remoteConsole{c.Endpoint}
	ids := c.ID
	if c.All {
		faults, err := server.faults(ctx)
		if err != nil {
			return err
		}
		for i := range faults {
			ids = append(ids, faults[i].ID)
		}
	}
	n := 0
	for _, id := range ids {
		if err := server.act(ctx, "lift-fault", url.Values{"id": {strconv.Itoa(id)}}); err != nil {
			if n == 0 {
				return err
			}
			return errors.Join(err, c.print(std, n))
		}
		n++
	}
	return c.print(std, n)
}
