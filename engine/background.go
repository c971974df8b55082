package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"stepback/engine/journal"
	"stepback/internal/ctxerr"
)

// background is a recovery that continues while the engine works. It goes through the unfinished executions in the
// order of their ARNs, as they were when it began. A request about an execution that it has not reached restores that
// execution at once. The ARN is claimed first, by the request or by the recovery, so that nothing is restored twice.
//
// The engine's lock protects the fields. See docs/decisions/090-recovery-in-the-background.md.
type background struct {
	*recovery

	done chan struct{} // closed at the end
	err  error         // why not every execution could be read; set before done is closed

	position string          // executions up to this ARN have been claimed
	early    map[string]bool // executions after it that requests have claimed
	held     map[string]bool // claimed executions that resume at the end: those of Map Runs
	began    map[string]bool // Map Runs that executions of this engine have started
	total    Recovered       // without Executions, which are counted in resumed
	resumed  int
}

// RecoverInBackground resumes the same executions as Recover, but returns before it has read them. From then on, the
// engine accepts everything. A request about an execution that has not been recovered yet restores it first; a request
// about the child executions or the parent of a Map Run waits for the end of the recovery, as do RedriveExecution,
// Running, StopAll, and lists that are filtered by retries. Until the end, other lists may lack retries, and Open and
// MapRuns count only what has been recovered. Virtual time stands still.
//
// Executions that wait only for timers remain in the journal until a timer fires or a request arrives; only their ARNs
// and timers are in memory.
//
// Config.Recovered is called for one group of executions after the other, before the group resumes. ended is called at
// the end with the number of resumed executions and a Recovered without Executions. Its error comes from the journal
// or from Config.Recovered; some executions have then not been resumed, and never are by this engine. ended is not
// called if the engine closes first. Close waits for the recovery. RecoverInBackground returns an error if the journal
// cannot be read at all.
func (e *Engine) RecoverInBackground(ended func(resumed int, found *Recovered, err error)) error {
	b := &background{recovery: e.newRecovery(runtime.GOMAXPROCS(0) - 1), done: make(chan struct{}),
		early: map[string]bool{}, held: map[string]bool{}, began: map[string]bool{}}
	from := b.begin(e.ctx) // before any request can change an execution
	if from.more && from.err != nil {
		from.stop()
		return fmt.Errorf("recovering executions: %w", from.err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		from.stop()
		return ErrClosed
	}
	e.recovering = b
	e.clock.Hold()
	e.tasks.Go(func() {
		defer e.clock.Release()
		err := b.recover(from)
		e.mu.Lock()
		closed := e.closed // before Close cancels the context
		if closed {        // the next engine recovers them
			err = ErrClosed
		}
		b.err = err
		resumed := b.resumed
		if err == nil {
			e.recovering = nil
		}
		e.mu.Unlock()
		close(b.done)
		if !closed {
			ended(resumed, &b.total, err)
		}
	})
	return nil
}

// recover resumes all executions that requests do not resume first.
func (b *background) recover(from *unread) error {
	e := b.engine
	var current *claim // of the batch
	err := b.read(e.ctx, from, func(batch []*journal.Unfinished) []*journal.Unfinished {
		current = &claim{done: make(chan struct{})}
		return b.claim(batch, current)
	}, func(batch []replayed) error {
		return b.resume(batch, current)
	})
	if err == nil {
		err = b.restoreTrees(e.ctx)
	}
	if err == nil {
		found := b.found
		found.Left = found.Left[len(b.total.Left):]
		b.total.Left, b.total.Children, b.total.Aborted = b.found.Left, found.Children, found.Aborted
		err = b.announce(e.ctx, &found)
	}
	if err != nil {
		for _, tree := range b.trees {
			release(tree)
		}
		return fmt.Errorf("recovering executions: %w", err)
	}
	e.mu.Lock()
	closed := e.closed
	if !closed {
		b.registerTrees()
		b.resumed += len(b.trees)
	}
	e.mu.Unlock()
	if closed {
		for _, tree := range b.trees {
			release(tree)
		}
		return ErrClosed
	}
	b.resumeTrees()
	return nil
}

// announce calls Config.Recovered.
func (c *recovery) announce(ctx context.Context, found *Recovered) error {
	if c.engine.cfg.Recovered == nil {
		return nil
	}
	return c.engine.cfg.Recovered(ctx, found)
}

// release gives up runs that have never been registered.
func release(runs []*run) {
	for _, r := range runs {
		r.release()
	}
}

// claim is the right to restore executions. done is closed when they have been restored. overtaken is true if an
// execution with the ARN has been started meanwhile; the engine's lock protects it.
type claim struct {
	done      chan struct{}
	overtaken bool
}

// claim claims the executions of a batch and returns those that no request has claimed.
func (b *background) claim(batch []*journal.Unfinished, by *claim) []*journal.Unfinished {
	e := b.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	left := batch[:0]
	for _, u := range batch {
		for other := e.restoring[u.ARN]; other != nil; other = e.restoring[u.ARN] { // a request restores it just now
			e.mu.Unlock()
			<-other.done
			e.mu.Lock()
		}
		b.position = u.ARN
		switch {
		case b.early[u.ARN]:
			delete(b.early, u.ARN)
			continue
		case u.MapRunARN != "":
			b.held[u.ARN] = true
		default:
			e.restoring[u.ARN] = by
		}
		left = append(left, u)
	}
	return left
}

// resume resumes the executions of a batch. Those with Map Runs, and child executions, are held until the end.
func (b *background) resume(batch []replayed, by *claim) error {
	e := b.engine
	defer close(by.done)
	var found Recovered
	var runs []*run
	for i := range batch {
		x := &batch[i]
		if x.run == nil || x.run.hasMapRuns() {
			b.add(x)
			continue
		}
		runs = append(runs, x.run)
		found.Executions = append(found.Executions, Resumed{x.ARN, x.Name, catchUp(runs[len(runs)-1:], e.clock.Now())})
	}
	found.Left, b.total.Left = b.found.Left[len(b.total.Left):], b.found.Left
	dormant := make([]*dormant, len(runs))
	for i, r := range runs {
		if dormant[i] = r.toDormant(b.machines); dormant[i] == nil {
			r.beginTracking(r.history, true)
		} else if e.cfg.Track != nil {
			e.cfg.Track(&r.record, r.history, true)
		}
	}
	err := b.announce(e.ctx, &found)
	e.mu.Lock()
	if err == nil && e.closed {
		err = ErrClosed
	}
	for i := range batch {
		if x := &batch[i]; x.run != nil && x.run.hasMapRuns() {
			b.held[x.ARN] = true
		}
		delete(e.restoring, batch[i].ARN)
	}
	if err == nil {
		b.resumed += len(runs)
	}
	for i, r := range runs {
		switch {
		case err != nil:
		case dormant[i] != nil:
			e.addDormant(dormant[i])
		default:
			e.runs[r.record.ARN] = r
		}
	}
	e.mu.Unlock()
	if err != nil {
		release(runs)
		return err
	}
	for i, r := range runs {
		if dormant[i] != nil {
			r.release()
		} else {
			r.resume()
		}
	}
	return nil
}

// hasMapRuns reports whether a replayed run waits for Map Runs.
func (r *run) hasMapRuns() bool {
	for i := range r.result.Effects {
		if r.result.Effects[i].MapRun != nil {
			return true
		}
	}
	return false
}

// find returns the run of an execution that has not ended, and restores it if it is not in memory. It returns nil if
// there is none, or if the execution was left unchanged because it could not be resumed. It may wait for a recovery in
// the background. Errors are those of ctx and the journal, and ErrClosed.
func (e *Engine) find(ctx context.Context, arn string) (*run, error) {
	for {
		e.mu.Lock()
		r := e.runs[arn]
		if r != nil || e.recovering == nil && len(e.dormant) == 0 && len(e.restoring) == 0 {
			e.mu.Unlock()
			return r, nil
		}
		wait, mine := e.claimOne(arn)
		e.mu.Unlock()
		switch {
		case mine != nil:
			if r, again, err := e.restoreOne(arn, mine); !again {
				return r, err
			}
		case wait == nil:
			return nil, nil //nolint:nilnil // there is none
		default:
			if err := e.await(ctx, wait); err != nil {
				return nil, err
			}
		}
	}
}

// restoring is one execution that a request, or its timer, restores.
type restoring struct {
	*claim

	machines *compiled
	by       *background // the recovery that has not reached it; nil if it was dormant
}

// claimOne claims an execution that is not in memory. It returns the claim, or a channel to wait for before the
// execution is looked up again, or neither if nothing has to be restored. It is called with the lock.
func (e *Engine) claimOne(arn string) (wait <-chan struct{}, mine *restoring) {
	if by := e.restoring[arn]; by != nil {
		return by.done, nil
	}
	d, b := e.dormant[arn], e.recovering
	switch {
	case d != nil:
		delete(e.dormant, arn)
		d.timer.Stop()
		mine = &restoring{machines: d.machines}
	case b == nil || b.ended() || !strings.HasPrefix(arn, e.names.executions()):
		return nil, nil
	case b.held[arn]:
		return b.done, nil
	case arn <= b.position || b.early[arn]:
		return nil, nil
	default:
		mine = &restoring{machines: b.machines, by: b}
	}
	mine.claim = &claim{done: make(chan struct{})}
	e.restoring[arn] = mine.claim
	return nil, mine
}

// ended reports whether the recovery has ended. If that was too early, executions are missing.
func (b *background) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// await waits until a channel is closed.
func (e *Engine) await(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	case <-e.ctx.Done():
		return ErrClosed
	}
}

// AwaitRecovery waits for the end of a recovery in the background. It returns the error with which the recovery ended,
// that of ctx, or ErrClosed; nil if there was no recovery.
func (e *Engine) AwaitRecovery(ctx context.Context) error {
	e.mu.Lock()
	b := e.recovering
	e.mu.Unlock()
	if b == nil {
		return nil
	}
	if err := e.await(ctx, b.done); err != nil {
		return err
	}
	return b.err
}

// Recovering reports whether a recovery in the background has not resumed all executions. It stays true if the engine
// closed before, or the journal could not be read.
func (e *Engine) Recovering() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.recovering != nil
}

// restoreOne restores a claimed execution and resumes it. It returns nil if there is no such execution, or if it cannot
// be resumed. again is true if the execution has to be looked up again.
func (e *Engine) restoreOne(arn string, mine *restoring) (r *run, again bool, err error) {
	r, held, err := e.reread(arn, mine)
	if r != nil {
		latest := catchUp([]*run{r}, e.clock.Now())
		if mine.by != nil {
			r.beginTracking(r.history, true)
			err = mine.by.announce(e.ctx, &Recovered{Executions: []Resumed{{arn, r.record.Name, latest}}})
		}
	}
	e.mu.Lock()
	delete(e.restoring, arn)
	close(mine.done)
	if e.closed && err == nil {
		err = ErrClosed
	}
	again = err == nil && (held || mine.overtaken)
	found := r != nil && err == nil && !again
	if found {
		e.runs[arn] = r
	}
	if b := mine.by; b != nil {
		switch {
		case held:
			b.held[arn] = true
		case found:
			b.early[arn] = true
			b.resumed++
		}
	}
	e.mu.Unlock()
	if !found {
		if r != nil {
			r.release()
		}
		return nil, again, err
	}
	r.resume()
	return r, false, nil
}

// reread replays an execution from the journal. It returns nil if the execution is not unfinished, or cannot be
// resumed; the recovery reports that when it reaches the execution. held is true if the recovery restores it at its
// end.
func (e *Engine) reread(arn string, mine *restoring) (r *run, held bool, err error) {
	x, err := e.cfg.Journal.Execution(e.ctx, arn)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case x.Ended():
		return nil, false, nil
	case x.MapRunARN != "" || x.TestCase != "": // a mock counts its tasks, and must not be replayed twice
		return nil, mine.by != nil, nil
	}
	for u, err := range e.cfg.Journal.Unfinished(e.ctx, arn) {
		if err != nil {
			return nil, false, err
		}
		if u.ARN != arn {
			break
		}
		m, err := mine.machines.of(e.ctx, u.Execution)
		if err == nil {
			r, err = e.replay(u, m, nil)
		}
		switch {
		case err != nil && mine.by != nil:
			return nil, false, nil
		case err != nil:
			return nil, false, fmt.Errorf("execution %s cannot be resumed: %w", arn, err)
		case r.hasMapRuns():
			r.release()
			return nil, true, nil
		}
		return r, false, nil
	}
	return nil, false, nil
}
