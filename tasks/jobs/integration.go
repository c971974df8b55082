package jobs

import (
	"context"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/internal/ctxerr"
	"stepback/jsonvalue"
)

// API calls the service that runs the jobs. Its errors have the names that tasks receive.
type API interface {
	engine.Integration // submits a job
	// Call calls an action with a role. An empty role means the execution's role.
	Call(ctx context.Context, role, action string, params jsonvalue.Value) (jsonvalue.Value, error)
}

// Integration performs an optimized integration that starts jobs of one kind.
type Integration struct {
	api   API
	clock *clock.Clock
	kind  *kind
	name  string // the integration's name, such as ecs:runTask
}

const (
	// The polling interval doubles from firstPause up to longestPause.
	firstPause, longestPause = time.Second, 10 * time.Second
	// maxMissed is the number of consecutive polls that may fail before the task does: a poll may come before all
	// parts of the service know the job.
	maxMissed = 5
	// stopTime limits the time that stopping a job may take if its task was given up.
	stopTime = 10 * time.Second
)

// Wait returns an integration that also supports the .sync pattern. name is its name, such as ecs:runTask. If the
// integration starts no jobs, the result does not support .sync.
func Wait(name string, api API, c *clock.Clock) engine.Integration {
	k, ok := kinds[name]
	if !ok {
		return withoutSync{name, api}
	}
	return &Integration{api, c, k, name}
}

// Invoke implements engine.Integration.
func (i *Integration) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	if t.Pattern == engine.Sync2 {
		return nil, unsupported(i.name, t.Pattern)
	}
	answer, err := i.submit(ctx, t)
	if err != nil || t.Pattern != engine.Sync {
		return answer, err
	}
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	t.Submitted(answer)
	submitted := job{t.RoleARN, params, answer.Value()}
	described, gone, err := i.await(ctx, submitted)
	switch {
	case err == nil && gone:
		return engine.ValueResult(i.kind.result(submitted, described)), nil
	case err == nil:
		return i.outcome(submitted, described)
	case engine.GivenUp(ctx):
		i.stop(ctx, submitted)
	}
	return nil, err
}

// submit submits the job, unless it was already submitted before a crash.
func (i *Integration) submit(ctx context.Context, t *engine.Task) (engine.Result, error) {
	if t.Submission != "" {
		v, err := jsonvalue.Parse(t.Submission)
		return engine.ParsedResult(t.Submission, v), err
	}
	return i.api.Invoke(ctx, t)
}

// await polls the job until it has ended, and returns its last description. gone is true for a job that deletes
// something if that thing no longer exists. If it was never described, last is the response to the submission.
func (i *Integration) await(ctx context.Context, j job) (last jsonvalue.Value, gone bool, err error) {
	last = j.answer
	for pause, missed := firstPause, 0; ; pause = min(2*pause, longestPause) {
		if err := i.clock.Sleep(ctx, pause); err != nil {
			return last, false, err
		}
		d, err := i.api.Call(ctx, j.role, i.kind.describe, i.kind.named(j))
		switch {
		case ctx.Err() != nil:
			return last, false, ctxerr.Of(ctx)
		case err != nil && i.kind.deleted(err):
			return last, true, nil
		case err == nil && i.kind.over(d):
			d, err = i.final(ctx, j, d)
			return d, false, err
		case err == nil && !i.kind.job(d).IsNull():
			last, missed = d, 0
			continue
		}
		if missed++; missed == maxMissed {
			return last, false, i.lost(err)
		}
	}
}

// final returns the final description of an ended job. Some kinds of jobs need another call for it.
func (i *Integration) final(ctx context.Context, j job, d jsonvalue.Value) (jsonvalue.Value, error) {
	if i.kind.final == "" {
		return d, nil
	}
	return i.api.Call(ctx, j.role, i.kind.final, i.kind.named(j))
}

// lost returns the error of a task whose job cannot be polled.
func (i *Integration) lost(err error) error {
	if err != nil {
		return err
	}
	return engine.NewFailure(engine.StatesTaskFailed, i.kind.describe+" knows nothing of the job that "+
		i.name+" started.")
}

// outcome returns the task's result or error for an ended job.
func (i *Integration) outcome(j job, description jsonvalue.Value) (engine.Result, error) {
	result := i.kind.result(j, description)
	if !i.kind.succeeded(description) {
		return nil, engine.NewFailure(engine.StatesTaskFailed, result.JSON())
	}
	return engine.ValueResult(result), nil
}

// stop stops a job whose task was given up. Errors are ignored, because nothing waits for the task any more.
func (i *Integration) stop(ctx context.Context, j job) {
	if i.kind.stop == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	_, _ = i.api.Call(ctx, j.role, i.kind.stop, i.kind.stopped(j))
}

// withoutSync is an integration without a .sync pattern.
type withoutSync struct {
	name string
	engine.Integration
}

// Invoke implements engine.Integration.
func (u withoutSync) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	if t.Pattern == engine.Sync || t.Pattern == engine.Sync2 {
		return nil, unsupported(u.name, t.Pattern)
	}
	return u.Integration.Invoke(ctx, t)
}

func unsupported(name string, p engine.Pattern) error {
	return engine.NewFailure(engine.StatesRuntime, "The integration arn:aws:states:::"+name+
		" is not supported with the pattern ."+string(p)+".")
}
