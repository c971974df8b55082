package faultscenario

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/controller"
	"stepback/adaptive/controller/decide"
	"stepback/aws/loopback"
	"stepback/local/services/lambda/functions"
	"stepback/retry"
	"stepback/retrymetrics/metricsfile"
)

// The brown-out of the adaptive scenario: in this period Lambda runs only two calls at a time.
const (
	brownFrom, brownTo = 15 * time.Minute, 35 * time.Minute
	brownLimit         = 2
)

// adapting is M14's fifth scenario: the controller changes the concurrency of a running Map and restores it.
var adapting = &rehearsal{
	name:  "adaptive",
	about: "Lambda runs only two concurrent calls for twenty minutes, and the Map wants eight; the controller lowers the running Map's concurrency",
	rows:  5000, batch: 1, concurrency: 8, lasts: 6 * time.Second,
	adjust: crowd, beside: control, check: adapted, loses: true,
}

// crowd throttles calls of the process function beyond the limit, as reserved concurrency does. They are throttled
// before the function's guard, which therefore does not see them.
func crowd(s *stage, _ string, p *functions.Program) {
	next, ok := p.Handler.(lambda.Handler)
	if !ok {
		return
	}
	p.Handler = &crowded{Handler: next, stage: s}
}

type crowded struct {
	lambda.Handler
	stage   *stage
	running atomic.Int64
}

// Invoke implements lambda.Handler.
func (c *crowded) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	n := c.running.Add(1)
	defer c.running.Add(-1)
	if at := c.stage.since(); at >= brownFrom && at < brownTo && n > brownLimit {
		return nil, messages.InvokeResponse_Error{
			Type: retry.LambdaTooManyRequestsException, Message: "Rate Exceeded.",
		}
	}
	return c.Handler.Invoke(ctx, event)
}

// control runs the controller every minute of the scenario's time.
func control(ctx context.Context, s *stage) error {
	s.note(brownFrom, "Lambda runs only %d concurrent calls", brownLimit)
	s.note(brownTo, "Lambda has recovered")
	platform := s.pipeline.Platform()
	c := &controller.Controller{
		Machine: s.pipeline.StateMachineARN(), Parameters: decide.Defaults(), Rows: &controller.MemoryRows{},
		Owner: "scenario", Now: s.clock.Now,
		StepFunctions: sfn.New(sfn.Options{
			Region: "us-east-1", BaseEndpoint: aws.String(loopback.URL), Retryer: aws.NopRetryer{},
			HTTPClient:  loopback.Client(platform.StepFunctions.Handler()),
			Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		}),
	}
	for s.clock.Sleep(ctx, time.Minute) == nil {
		kept, err := metricsfile.Read(platform.Dir)
		if err != nil {
			return err
		}
		c.Metrics = controller.Recorded(append(kept, platform.Metrics().Points()...))
		res, err := c.Tick(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the import has ended, and with it what is beside it
		case err != nil:
			return err
		case res.Failed != "":
			return fmt.Errorf("the controller: %s", res.Failed)
		}
		for _, d := range res.Decisions {
			if d.Changes() {
				s.decided(d)
			}
		}
	}
	return nil
}

// decided records a change made by the controller.
func (s *stage) decided(d decide.Decision) {
	s.note(s.since(), "the controller: %s", d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes = append(s.changes, d)
}

// adapted checks the controller's changes. The controller must lower the running Map's concurrency in the brown-out
// and restore the initial value, and make at most two changes within any hour. Fewer rows must be given up than
// without it.
func adapted(ctx context.Context, s *stage, r *Report) error {
	cut, last := false, s.concurrency
	var steps []string
	var times []time.Time
	for _, d := range s.changes {
		if d.Verdict != decide.ChangeMapRun {
			continue
		}
		at := d.At.Sub(s.begun)
		cut = cut || d.Direction == decide.Cut && at >= brownFrom && at < brownTo
		last = d.MapRun.Concurrency
		steps = append(steps, fmt.Sprintf("%d at %s", last, at.Round(time.Second)))
		times = append(times, d.At)
	}
	r.Holds(cut, "the running Map's concurrency is lowered in the brown-out", "from %d it was set to %s",
		s.concurrency, strings.Join(steps, ", "))
	r.Holds(last == s.concurrency, "it is back to its initial value at the end", "%d", last)
	most := 0
	for i := range times {
		n := 0
		for _, t := range times[i:] {
			if t.Sub(times[i]) < time.Hour {
				n++
			}
		}
		most = max(most, n)
	}
	r.Holds(most <= 2, "at most two changes within an hour", "%d", most)
	s.recovers(r, retry.LambdaTooManyRequestsException)
	alone := *s.rehearsal
	alone.beside, alone.check, alone.rows = nil, nil, 3500 // as many as the brown-out needs
	without := alone.stage(s.seed)
	if err := without.run(ctx); err != nil {
		return err
	}
	with, unaided := r.Rows.DeadLettered, without.report.Rows.DeadLettered
	r.Holds(with*2 <= unaided, "at most half as many rows are given up as without the controller", "%d, without it %d",
		with, unaided)
	refused := s.imported.Errors[retry.LambdaTooManyRequestsException]
	r.Holds(refused == with, "every row that is given up was refused by Lambda itself, five times, before the guard could see it",
		"%d of %d", refused, with)
	if err := s.inBulk(ctx, r); err != nil {
		return err
	}
	return s.behind(ctx, r)
}

// inBulk repeats the brown-out with whole-batch invocations, where a throttled batch waits and is not split into
// rows.
func (s *stage) inBulk(ctx context.Context, r *Report) error {
	bulk := *s.rehearsal
	bulk.beside, bulk.check, bulk.bulk, bulk.batch = nil, nil, true, 4
	bulk.rows = 3500 * bulk.batch
	inBulk := bulk.stage(s.seed)
	if err := inBulk.run(ctx); err != nil {
		return err
	}
	waits, total := inBulk.waited(retry.LambdaTooManyRequestsException)
	r.Holds(inBulk.report.Rows.DeadLettered == 0 && waits > 0,
		"if a batch is one invocation, the default of imports, no row is given up even without a controller",
		"%d given up; batches waited %d times, for %s together", inBulk.report.Rows.DeadLettered, waits,
		total.Round(time.Second))
	return nil
}

// behind repeats the brown-out in the database, where the functions' guard sees it. The mechanisms inside the run
// then make rows wait, and no row is given up, without a controller.
func (s *stage) behind(ctx context.Context, r *Report) error {
	inside := *s.rehearsal
	inside.beside, inside.check, inside.adjust, inside.rows, inside.crowded = nil, nil, nil, 3500, brownLimit
	behind := inside.stage(s.seed)
	if err := behind.run(ctx); err != nil {
		return err
	}
	waits, total := behind.waited(retry.RetryBudgetExhausted)
	opened, _ := behind.waited(retry.CircuitOpen)
	r.Holds(behind.report.Rows.DeadLettered == 0 && behind.failed > 0,
		"if the database has the same brown-out, so that the functions' guard sees it, no row is given up",
		"%d given up; the database refused %d calls, and rows waited %d times, for %s together", behind.report.Rows.DeadLettered,
		behind.failed, waits+opened, total.Round(time.Second))
	return nil
}
