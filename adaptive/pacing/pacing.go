// Package pacing begins many pieces of deferred work, such as the redrives of thousands of executions after an outage,
// as fast as the callee behind them can handle, which it learns with a limiter (package limiter): it begins no more
// pieces at a time than the limit, spreads them over the time that a piece takes, raises the limit while pieces
// succeed, and lowers it when they fail. A piece that fails is begun again later.
//
// The package stores nothing: to resume after an interruption, run again with the pieces that are left.
package pacing

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"stepback/adaptive/limiter"
	"stepback/internal/ctxerr"
)

// Work represents the pieces that Run begins and watches.
type Work interface {
	// Begin begins a piece. If it returns an error, the piece is counted as refused and not begun again.
	Begin(ctx context.Context, id string) error
	// Ended returns the pieces that have ended of those begun, with true for success. An error ends Run.
	Ended(ctx context.Context, ids []string) (map[string]bool, error)
}

// Config configures a run. Every zero value has a default.
type Config struct {
	// Policy is the limiter's policy; the default is Careful.
	Policy limiter.Policy
	// Every is the interval at which pieces under way are looked at; 0 means 200 ms.
	Every time.Duration
	// Attempts is the number of times that a piece is begun before it counts as failed; 0 means 5.
	Attempts int
	// Progress, if not nil, is called once a second, and at the end.
	Progress func(Progress)
}

// Careful returns the policy for a callee that has just recovered: it starts at 5 pieces at a time, where
// limiter.Standard starts at 20, because a herd is what ended the last recovery.
func Careful() limiter.Policy {
	p := limiter.Standard()
	p.Initial, p.PermitTimeout = 5, time.Hour
	return p
}

// Progress is the state of a run.
type Progress struct {
	// Total is the number of pieces. Succeeded, Failed and Refused of them have ended, and UnderWay have begun.
	Total, Succeeded, Failed, Refused, UnderWay int
	// Again is the number of times that a piece failed and was queued again.
	Again int
	// Limit is the learned number of pieces at a time. Rate is the number of pieces that succeeded per second in the
	// last ten seconds, and Mean how long a piece takes that succeeds; both are 0 while unknown.
	Limit float64
	Rate  float64
	Mean  time.Duration
}

// Done returns the number of pieces that have ended.
func (p Progress) Done() int { return p.Succeeded + p.Failed + p.Refused }

// piece is one piece of work.
type piece struct {
	id       string
	attempts int
	began    time.Time
	permit   limiter.Permit
}

// rateSpan is the time over which Progress.Rate is measured.
const rateSpan = 10 * time.Second

// run is the state of Run.
type run struct {
	Config

	work     Work
	pace     *Pace
	queue    []*piece
	underWay map[string]*piece
	progress Progress
	ends     []time.Time // of successes in the last rateSpan
}

// Run begins all pieces and returns when they have ended. The error is that of ctx or of Work.Ended; the pieces under
// way then continue unwatched. each, which may be nil, is called when a piece has ended for good: err is nil for a
// success, the error of Begin, or ErrFailed.
func Run(ctx context.Context, ids []string, work Work, c Config, each func(id string, err error)) (Progress, error) {
	pace, err := NewPace(c.Policy)
	if err != nil {
		return Progress{}, err
	}
	if c.Every < 0 || c.Attempts < 0 {
		return Progress{}, fmt.Errorf("the pacing has Every %s and Attempts %d; they must be positive, or 0 for the default", c.Every,
			c.Attempts)
	}
	c.Every, c.Attempts = cmp.Or(c.Every, 200*time.Millisecond), cmp.Or(c.Attempts, 5)
	if each == nil {
		each = func(string, error) {}
	}
	r := &run{Config: c, work: work, pace: pace, underWay: map[string]*piece{}, progress: Progress{Total: len(ids)}}
	for _, id := range ids {
		r.queue = append(r.queue, &piece{id: id})
	}
	err = r.loop(ctx, each)
	r.report(time.Now())
	if c.Progress != nil {
		c.Progress(r.progress)
	}
	return r.progress, err
}

func (r *run) loop(ctx context.Context, each func(string, error)) error {
	now := time.Now()
	look, reported := now.Add(r.Every), now
	for len(r.queue) > 0 || len(r.underWay) > 0 {
		now = time.Now()
		for len(r.queue) > 0 && r.begin(ctx, now, each) {
			now = time.Now()
		}
		if !now.Before(look) {
			if err := r.look(ctx, each); err != nil {
				return err
			}
			now = time.Now()
			look = now.Add(r.Every)
		}
		if r.Progress != nil && now.Sub(reported) >= time.Second {
			r.report(now)
			r.Progress(r.progress)
			reported = now
		}
		wake := look
		if next := r.pace.Next(); len(r.queue) > 0 && next.After(now) && next.Before(wake) {
			wake = next
		}
		if err := sleep(ctx, wake.Sub(now)); err != nil {
			return err
		}
	}
	return nil
}

// begin begins the first piece of the queue; it returns false if the pace admits none now.
func (r *run) begin(ctx context.Context, now time.Time, each func(string, error)) bool {
	permit, ok := r.pace.Begin(now)
	if !ok {
		return false
	}
	p := r.queue[0]
	r.queue = r.queue[1:]
	p.began, p.permit = now, permit
	p.attempts++
	if err := r.work.Begin(ctx, p.id); err != nil {
		r.pace.Refused(time.Now(), permit)
		r.progress.Refused++
		each(p.id, err)
		return ctx.Err() == nil
	}
	r.underWay[p.id] = p
	return true
}

// ErrFailed is reported for a piece that failed as often as Config.Attempts allows.
var ErrFailed error = failed{}

type failed struct{}

func (failed) Error() string {
	return "it failed each time; its callee may still be ill, or its input is to blame"
}

// look records the pieces that have ended.
func (r *run) look(ctx context.Context, each func(string, error)) error {
	if len(r.underWay) == 0 {
		return nil
	}
	ids := make([]string, 0, len(r.underWay))
	for id := range r.underWay {
		ids = append(ids, id)
	}
	ended, err := r.work.Ended(ctx, ids)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, id := range ids {
		good, over := ended[id]
		if !over {
			continue
		}
		p := r.underWay[id]
		delete(r.underWay, id)
		r.pace.Ended(now, p.permit, now.Sub(p.began), good)
		switch {
		case good:
			r.progress.Succeeded++
			r.ends = append(r.ends, now)
			each(id, nil)
		case p.attempts < r.Attempts:
			r.progress.Again++
			r.queue = append(r.queue, p)
		default:
			r.progress.Failed++
			each(id, ErrFailed)
		}
	}
	return nil
}

func (r *run) report(now time.Time) {
	for len(r.ends) > 0 && now.Sub(r.ends[0]) > rateSpan {
		r.ends = r.ends[1:]
	}
	r.progress.Rate = float64(len(r.ends)) / rateSpan.Seconds()
	r.progress.Limit, r.progress.Mean = r.pace.Limit(), r.pace.Mean()
	r.progress.UnderWay = len(r.underWay)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctxerr.Of(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	case <-t.C:
		return nil
	}
}
