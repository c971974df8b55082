package executions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stepback/engine/history"
)

// errNoIndex is returned if an endpoint has no index of executions, or no index for the requested list.
var errNoIndex = errors.New("the endpoint has no index of executions")

// Index lists executions from the indexes of a stepback server, which its console shows. It finds executions that
// retry, and those with a given error, without inspecting each one.
type Index struct {
	// Endpoint is the URL of the server.
	Endpoint string
	// HTTP sends the requests; nil means http.DefaultClient.
	HTTP *http.Client
}

// indexed is an execution in the JSON form of the console's pages.
type indexed struct {
	ARN     string         `json:"executionArn"`
	Name    string         `json:"name"`
	Status  history.Status `json:"status"`
	Start   time.Time      `json:"startDate"`
	Stop    time.Time      `json:"stopDate"`
	Error   string         `json:"error"`
	Redrive int64          `json:"redriveCount"`
	Items   int64          `json:"itemCount"`
	Retries []struct {
		State    string    `json:"state"`
		Error    string    `json:"error"`
		Attempt  int64     `json:"attempt"`
		Attempts int64     `json:"attempts"`
		Next     time.Time `json:"next"`
	} `json:"retries"`
}

// pageOfIndex is the number of executions requested at a time.
const pageOfIndex = 1000

// list yields the executions of one list that a filter selects, newest first. If it returns errNoIndex, it has
// yielded none.
func (x *Index) list(ctx context.Context, of string, f *Filter, take func(*Execution) (bool, error)) error {
	q := url.Values{"of": {of}, "format": {"json"}, "size": {strconv.Itoa(pageOfIndex)}}
	if f.Status != "" {
		q.Set("status", string(f.Status))
	}
	if f.Error != "" {
		q.Set("error", f.Error)
	}
	if f.Retrying {
		q.Set("retrying", "true")
	}
	if !f.Since.IsZero() {
		q.Set("since", time.Since(f.Since).String())
	}
	for {
		page, err := x.page(ctx, "executions", q)
		if err != nil {
			return err
		}
		for i := range page.Executions {
			if more, err := take(page.Executions[i].execution(of)); err != nil || !more {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		q.Set("after", page.Next)
	}
}

type indexPage struct {
	Executions []indexed `json:"executions"`
	Next       string    `json:"nextToken"`
}

// page requests a page of a list of the console.
func (x *Index) page(ctx context.Context, list string, q url.Values) (*indexPage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet,
		strings.TrimSuffix(x.Endpoint, "/")+"/_stepback/"+list+"?"+q.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	c := x.HTTP
	if c == nil {
		c = http.DefaultClient
	}
	answer, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	ours := strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json")
	if first := q.Get("after") == ""; first && (answer.StatusCode != http.StatusOK || !ours) {
		return nil, errNoIndex // another program's server, one without a console, or another account's machine
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", x.Endpoint, answer.Status)
	}
	page := &indexPage{}
	if err := json.NewDecoder(answer.Body).Decode(page); err != nil {
		return nil, fmt.Errorf("the lists of %s cannot be read: %w", x.Endpoint, err)
	}
	return page, nil
}

// execution converts an execution of the index to the API's form.
func (x *indexed) execution(of string) *Execution {
	e := &Execution{ARN: x.ARN, Name: x.Name, Status: x.Status, Start: Time{x.Start}, Stop: Time{x.Stop},
		Items: x.Items, Redrives: x.Redrive, MachineARN: of}
	if strings.Contains(of, ":mapRun:") {
		e.MapRunARN = of
		e.MachineARN = strings.Replace(x.ARN[:strings.LastIndexByte(x.ARN, ':')], ":execution:", ":stateMachine:", 1)
	}
	if x.Error != "" {
		e.Error = &x.Error
	}
	if len(x.Retries) > 0 {
		r := x.Retries[0]
		e.Retrying = retryText(r.State, r.Attempt, r.Attempts, r.Next, r.Error, time.Now())
	}
	return e
}
