package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stepback/engine"
	"stepback/engine/history"
)

// badForm reports an invalid value in a form.
type badForm struct{ why string }

func (e *badForm) Error() string { return e.why }

// act runs the action named by the last part of the address. Each action returns a message to show, and the address
// of another page to go to, if any.
func (c *Console) act(w http.ResponseWriter, r *http.Request) {
	acts := map[string]func(context.Context, Engine, url.Values) (said, to string, err error){
		"start": c.start, "stop": stop, "redrive": redrive, "redrive-all": c.redriveAll, "retry-now": c.retryNow,
		"succeed-task": succeedTask, "fail-task": failTask, "map-run": updateMapRun, "save": c.save,
		"letters": c.actOnLetters, "edit-letter": c.editLetter, "add-fault": c.addFault, "lift-fault": c.liftFault,
		"stop-durable": c.actDurably(stopDurable), "succeed-callback": c.actDurably(succeedCallback),
		"fail-callback": c.actDurably(failCallback), "heartbeat-callback": c.actDurably(heartbeatCallback),
		"hold": c.hold, "release": c.release, "limit-calls": c.limitCalls,
	}
	do := acts[r.PathValue("verb")]
	if do == nil {
		http.NotFound(w, r)
		return
	}
	e, err := c.cfg.Engine()
	if err != nil {
		c.failed(w, r, err)
		return
	}
	said, to, err := do(r.Context(), e, r.PostForm)
	if err != nil {
		c.cfg.Log.Info("a console action was refused", "act", r.PathValue("verb"), "error", err)
		said = "Not done: " + err.Error()
	} else {
		c.cfg.Log.Info("console action", "act", r.PathValue("verb"), "said", said)
	}
	c.lately.forget()
	if to == "" {
		to = back(r.PostForm.Get("back"))
	}
	u, err := url.Parse(to)
	if err != nil {
		u = &url.URL{Path: Path}
	}
	q := u.Query()
	q.Set("said", c.told.keep(said))
	u.RawQuery = q.Encode()
	http.Redirect(w, r, u.String(), http.StatusSeeOther) //nolint:gosec // back lets pages of the console through only
}

// back returns address if it is a page of the console, and the console's first page otherwise.
func back(address string) string {
	if strings.HasPrefix(address, Path) && !strings.ContainsAny(address, "\\\r\n") {
		return address
	}
	return Path
}

func (c *Console) start(ctx context.Context, _ Engine, f url.Values) (said, to string, err error) {
	in := map[string]any{"stateMachineArn": f.Get("machine"), "input": strings.TrimSpace(f.Get("input"))}
	if in["input"] == "" {
		in["input"] = "{}"
	}
	if name := strings.TrimSpace(f.Get("name")); name != "" {
		in["name"] = name
	}
	var out struct {
		ARN string `json:"executionArn"`
	}
	if err := c.cfg.Call(ctx, "states", "StartExecution", in, &out); err != nil {
		return "", "", err
	}
	return "Started.", executionURL(out.ARN), nil
}

func stop(ctx context.Context, e Engine, f url.Values) (said, to string, err error) {
	err = e.StopExecution(ctx, f.Get("arn"), history.NewFailure(f.Get("error"), f.Get("cause")))
	return "Stopped.", "", err
}

func redrive(ctx context.Context, e Engine, f url.Values) (said, to string, err error) {
	done, failed := 0, error(nil)
	for _, arn := range f["arn"] {
		if _, err := e.RedriveExecution(ctx, arn, ""); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", lastOf(arn), err))
			continue
		}
		done++
	}
	if failed != nil {
		return "", "", fmt.Errorf("%d redriven; %w", done, failed)
	}
	if done == 0 {
		return "", "", &badForm{"select executions first"}
	}
	return fmt.Sprintf("Redriven: %d.", done), "", nil
}

// mostRedriven is the most executions that redriving a whole filter may cover.
const mostRedriven = 100_000

// redriveAll redrives all executions of a filter, not just those on the page, or lists the executions that it would
// redrive.
func (c *Console) redriveAll(ctx context.Context, e Engine, f url.Values) (said, to string, err error) {
	filter := filterOf(f.Get)
	q, err := filter.query(f.Get("of"), c.cfg.Now())
	if err != nil {
		return "", "", err
	}
	q.Statuses = slices.DeleteFunc(q.Statuses, func(s engine.Status) bool {
		return s == engine.Running || s == engine.Succeeded
	})
	if len(q.Statuses) == 0 {
		q.Statuses = []engine.Status{engine.Failed, engine.TimedOut, engine.Aborted}
	}
	var can []string
	cannot := map[string]int{}
	for l, err := range e.Listed(ctx, &q) {
		if err != nil {
			return "", "", err
		}
		if err := e.Redrivable(l.Execution); err != nil {
			cannot[err.Error()]++
			continue
		}
		if can = append(can, l.ARN); len(can) == mostRedriven {
			break
		}
	}
	parts := []string{count(len(can)) + " can be redriven"}
	for why, n := range cannot {
		parts = append(parts, count(n)+" cannot be redriven: "+why)
	}
	text := strings.Join(parts, "; ")
	if f.Get("dry") != "" {
		return "Dry run: " + text + ". Nothing was done.", "", nil
	}
	done, refused := 0, error(nil)
	for _, arn := range can {
		if _, err := e.RedriveExecution(ctx, arn, ""); err != nil {
			refused = err
			continue
		}
		done++
	}
	if refused != nil {
		return "", "", fmt.Errorf("%d of %d redriven; the last error: %w", done, len(can), refused)
	}
	return "Redriven: " + count(done) + ". " + text + ".", "", nil
}

func (c *Console) retryNow(ctx context.Context, e Engine, f url.Values) (said, to string, err error) {
	if operation := f.Get("operation"); operation != "" {
		return c.retryDurable(ctx, f.Get("arn"), operation)
	}
	id, err := strconv.ParseInt(f.Get("id"), 10, 64)
	if err != nil {
		return "", "", &badForm{"the form names no retry"}
	}
	return "The retry has begun.", "", e.RetryNow(ctx, f.Get("arn"), id)
}

// tokenOf returns a task's token: the one in the form or, because pages never contain tokens, that of the state's
// pending task.
func tokenOf(ctx context.Context, e Engine, f url.Values) (string, error) {
	if t := strings.TrimSpace(f.Get("tasktoken")); t != "" {
		return t, nil
	}
	pending, err := e.Pending(ctx, f.Get("arn"))
	if err != nil {
		return "", err
	}
	for _, p := range pending {
		if p.Token != "" && p.State == f.Get("state") {
			return p.Token, nil
		}
	}
	return "", &badForm{"no task of the state is waiting for a token any more"}
}

func succeedTask(ctx context.Context, e Engine, f url.Values) (said, to string, err error) {
	token, err := tokenOf(ctx, e, f)
	if err != nil {
		return "", "", err
	}
	return "The task has succeeded.", "", e.SendTaskSuccess(ctx, token, strings.TrimSpace(f.Get("output")))
}

func failTask(ctx context.Context, e Engine, f url.Values) (said, to string, err error) {
	token, err := tokenOf(ctx, e, f)
	if err != nil {
		return "", "", err
	}
	return "The task has failed.", "", e.SendTaskFailure(ctx, token, history.NewFailure(f.Get("error"), f.Get("cause")))
}

func updateMapRun(ctx context.Context, e Engine, f url.Values) (said, to string, err error) {
	n, err := strconv.ParseInt(strings.TrimSpace(f.Get("concurrency")), 10, 64)
	if err != nil || n < 0 {
		return "", "", &badForm{"the concurrency must be 0 or more; 0 means no limit"}
	}
	return "The Map Run takes up to " + count(n) + " at a time.", "",
		e.UpdateMapRun(ctx, f.Get("arn"), engine.MapRunUpdate{MaxConcurrency: &n})
}

// save updates a state machine to a definition and publishes a new version.
func (c *Console) save(ctx context.Context, _ Engine, f url.Values) (said, to string, err error) {
	var out struct {
		Version string `json:"stateMachineVersionArn"`
	}
	err = c.cfg.Call(ctx, "states", "UpdateStateMachine", map[string]any{"stateMachineArn": f.Get("machine"),
		"definition": f.Get("definition"), "publish": true}, &out)
	return "Saved as version " + lastOf(out.Version) + ".", "", err
}
