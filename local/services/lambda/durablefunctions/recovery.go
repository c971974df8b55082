package durablefunctions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/engine/journal"
	"stepback/internal/ctxerr"
)

// recovery restores the executions that an earlier process left, while the service works. It goes through them in the
// order of their ARNs, as they were when the service was opened. A request about an execution that it has not reached
// restores that execution at once. The ARN is claimed first, by the request or by the recovery, so that nothing is
// restored twice.
//
// The service's lock protects the fields after done. See docs/decisions/092-durable-executions-in-the-background.md.
type recovery struct {
	sources []*source
	done    chan struct{} // closed at the end

	err       error                    // why not every execution could be read; set before done is closed
	position  string                   // executions up to this ARN have been claimed
	early     map[string]bool          // executions after it that requests have restored
	restoring map[string]chan struct{} // claimed executions; closed when they have been restored
	left      []*run                   // executions that were restored before Resume
	resumed   int
}

// source yields the unfinished executions of a partition as they were when the source was created.
type source struct {
	next  func() (*journal.Unfinished, error, bool)
	stop  func()
	first *journal.Unfinished
}

// newRecovery starts to read the unfinished executions, before any request can change them. It returns nil if there are
// none.
func (s *Service) newRecovery() (*recovery, error) {
	b := &recovery{done: make(chan struct{}), early: map[string]bool{}, restoring: map[string]chan struct{}{}}
	prefixes := aws.Partitions()
	for i, partition := range prefixes {
		prefixes[i] = "arn:" + partition + ":lambda:"
	}
	slices.Sort(prefixes) // so that the ARNs of all sources ascend
	for _, prefix := range prefixes {
		next, stop := iter.Pull2(s.o.Journal.Unfinished(s.ctx, prefix))
		first, err, more := next()
		if more && err == nil {
			b.sources = append(b.sources, &source{next, stop, first})
			continue
		}
		stop()
		if err != nil {
			b.stop()
			return nil, unreadable(err)
		}
	}
	if len(b.sources) == 0 {
		return nil, nil //nolint:nilnil // nothing to recover
	}
	return b, nil
}

func unreadable(err error) error { return fmt.Errorf("the durable executions: %w", err) }

// stop ends the reading.
func (b *recovery) stop() {
	for _, s := range b.sources {
		s.stop()
	}
}

// all yields the executions of all sources.
func (b *recovery) all() iter.Seq2[*journal.Unfinished, error] {
	return func(yield func(*journal.Unfinished, error) bool) {
		for _, s := range b.sources {
			for u, err, more := s.first, error(nil), true; more; u, err, more = s.next() {
				if !yield(u, err) || err != nil {
					return
				}
			}
		}
	}
}

// readAhead is the number of executions that may wait to be restored.
const readAhead = 64

// recover restores all executions that requests do not restore first.
func (s *Service) recover(b *recovery) {
	defer s.o.Clock.Release()
	read := make(chan *journal.Unfinished, readAhead)
	var workers sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		workers.Go(func() {
			for u := range read {
				s.recoverOne(b, u)
			}
		})
	}
	err := s.read(b, read)
	close(read)
	workers.Wait()
	b.stop()
	s.mu.Lock()
	closed := s.closed
	if closed { // the next process recovers them
		err = closing()
	}
	if b.err = err; err == nil {
		s.recovery = nil
	}
	resumed := b.resumed
	s.mu.Unlock()
	close(b.done)
	if closed {
		return
	}
	if resumed > 0 {
		s.o.Log.Info("durable executions resumed", "executions", resumed)
	}
	if s.o.Resumed != nil {
		s.o.Resumed(err)
	}
}

// read claims the unfinished executions and passes them on.
func (s *Service) read(b *recovery, to chan<- *journal.Unfinished) error {
	for u, err := range b.all() {
		if err != nil {
			return unreadable(err)
		}
		if s.reach(b, u.ARN) {
			to <- u
		}
		if s.ctx.Err() != nil {
			return closing()
		}
	}
	return nil
}

// reach claims an execution for the recovery. It returns false if a request has restored the execution.
func (s *Service) reach(b *recovery, arn string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := b.restoring[arn]; other != nil; other = b.restoring[arn] { // a request restores it just now
		s.mu.Unlock()
		<-other
		s.mu.Lock()
	}
	b.position = arn
	if b.early[arn] {
		delete(b.early, arn)
		return false
	}
	b.restoring[arn] = make(chan struct{})
	return true
}

// recoverOne restores an execution that the recovery has claimed.
func (s *Service) recoverOne(b *recovery, u *journal.Unfinished) {
	r := s.newRun(u.ARN)
	if err := r.restore(u); err != nil {
		s.o.Log.Error("a durable execution cannot be continued; it was left unchanged", "execution", u.ARN, "error", err)
		r = nil
	}
	s.restored(b, u.ARN, r)
}

// running returns the execution with an ARN, or nil if none that has not ended has it. An execution of an earlier
// process that has not been recovered is restored first. Errors are those of ctx and the journal.
func (s *Service) running(ctx context.Context, arn string) (*run, error) {
	for {
		s.mu.Lock()
		r, b := s.runs[arn], s.recovery
		if r != nil || b == nil {
			s.mu.Unlock()
			return r, nil
		}
		other, err := b.restoring[arn], b.err
		left := arn > b.position && !b.early[arn] && durable.IsARN(arn)
		if left && other == nil && err == nil {
			b.restoring[arn] = make(chan struct{})
		}
		s.mu.Unlock()
		switch {
		case other != nil:
		case !left:
			return nil, nil //nolint:nilnil // there is none
		case err != nil:
			return nil, err
		default:
			return s.reread(b, arn)
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctxerr.Of(ctx)
		}
	}
}

// reread restores an execution from the journal for a request, which must have claimed it. It returns an error if the
// execution cannot be continued.
func (s *Service) reread(b *recovery, arn string) (*run, error) {
	r := s.newRun(arn)
	err := r.load(s.ctx)
	if err != nil {
		r = nil
	}
	r = s.restored(b, arn, r)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, nil //nolint:nilnil // it has ended, or there is none
	case err != nil:
		return nil, fmt.Errorf("the durable execution %s cannot be continued: %w", arn, err)
	case r == nil:
		return nil, closing()
	}
	return r, nil
}

// restored ends a claim. It makes the restored execution known and continues it; r is nil if it could not be restored.
// It returns r, or nil if the service has closed.
func (s *Service) restored(b *recovery, arn string, r *run) *run {
	if r != nil {
		s.recovered(&r.state.record, r.state.history)
		r.turn <- struct{}{} // nothing else knows r yet: no request comes before proceed
	}
	s.mu.Lock()
	close(b.restoring[arn])
	delete(b.restoring, arn)
	if s.closed {
		r = nil
	}
	resumes := r != nil && s.resumed
	if r != nil {
		s.runs[arn] = r
		b.resumed++
		if arn > b.position {
			b.early[arn] = true
		}
		if !resumes {
			b.left = append(b.left, r)
		}
	}
	s.mu.Unlock()
	switch {
	case r == nil:
	case resumes:
		r.proceed()
	default:
		r.leave()
	}
	return r
}

// proceed continues an execution of an earlier process that has just been restored. The caller has the turn; proceed
// ends it.
func (r *run) proceed() {
	if st := r.state; r.interrupted(st) {
		if !r.s.goWork(func(context.Context) {
			defer r.leave()
			r.resume(st)
		}) {
			r.leave()
		}
		return
	}
	r.arm()
	r.leave()
}

// proceedLater continues an execution of an earlier process that requests may have changed since it was restored.
func (r *run) proceedLater(ctx context.Context) {
	st, err := r.take(ctx)
	if err != nil {
		r.report("its journal", err)
		return
	}
	defer r.leave()
	if r.interrupted(st) {
		r.resume(st)
	} else {
		r.arm()
	}
}

// Resume continues the executions that an earlier process left. It returns before it has read them; see AwaitRecovery.
// Call it once their functions can be invoked.
func (s *Service) Resume() {
	s.mu.Lock()
	b := s.recovery
	if s.resumed || s.closed {
		s.mu.Unlock()
		return
	}
	s.resumed = true
	var left []*run
	if b != nil {
		left, b.left = b.left, nil
		s.group.Go(func() { s.recover(b) })
	}
	s.mu.Unlock()
	for _, r := range left {
		s.goWork(r.proceedLater)
	}
	if b == nil && s.o.Resumed != nil {
		s.o.Resumed(nil)
	}
}

// AwaitRecovery waits until every execution of an earlier process has been recovered. It returns the error of the
// journal if they cannot be read, that of ctx, or an *aws.Error if the service closes. Resume must have been called.
func (s *Service) AwaitRecovery(ctx context.Context) error {
	s.mu.Lock()
	b := s.recovery
	s.mu.Unlock()
	if b == nil {
		return nil
	}
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
}

// Recovering reports whether executions of an earlier process have not been recovered. It stays true if the journal
// could not be read.
func (s *Service) Recovering() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recovery != nil
}
