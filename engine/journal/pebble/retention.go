package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/journal"
)

// DefaultRetention is the default time that executions are kept after they end: 90 days, as on AWS.
const DefaultRetention = 90 * 24 * time.Hour

// retentionInterval is the interval at which the journal looks for executions to delete.
const retentionInterval = time.Hour

// retention removes old executions from a separate goroutine, which stop waits for.
type retention struct {
	quit  chan struct{}
	ended sync.WaitGroup
}

// retain starts to remove executions that ended more than d before now(), now and every hour.
func (j *Journal) retain(d time.Duration, now func() time.Time) *retention {
	if d < 0 {
		return nil
	}
	if d == 0 {
		d = DefaultRetention
	}
	if now == nil {
		now = time.Now
	}
	r := &retention{quit: make(chan struct{})}
	r.ended.Go(func() {
		tick := time.NewTicker(retentionInterval)
		defer tick.Stop()
		for {
			// Whatever cannot be removed now is removed the next time; a disk that refuses writes shows in Commit.
			_, _ = j.expireAll(now().Add(-d), r.stopping)
			select {
			case <-tick.C:
			case <-r.quit:
				return
			}
		}
	})
	return r
}

func (r *retention) stopping() error {
	select {
	case <-r.quit:
		return journal.ErrClosed
	default:
		return nil
	}
}

func (r *retention) stop() {
	if r == nil {
		return
	}
	close(r.quit)
	r.ended.Wait()
}

// Expire removes the executions that ended before a given time, with everything stored about them and their Map Runs.
// It returns the number of removed executions, not counting child executions.
func (j *Journal) Expire(ctx context.Context, before time.Time) (int, error) {
	return j.expireAll(before, ctx.Err)
}

func (j *Journal) expireAll(before time.Time, stopping func() error) (n int, err error) {
	for it, err := range j.walk(endPrefix) {
		if err == nil {
			err = stopping()
		}
		if err != nil {
			return n, err
		}
		key := it.Key()
		stamp := key[len(endPrefix):]
		if len(stamp) < 8 {
			return n, fmt.Errorf("the key %q is not the key of an end record", key)
		}
		if int64(binary.BigEndian.Uint64(stamp)) >= before.UnixNano() {
			break
		}
		if err := j.expire(key, string(stamp[8:])); err != nil {
			return n, fmt.Errorf("removing %s: %w", stamp[8:], err)
		}
		n++
	}
	return n, nil
}

// expire removes one execution.
func (j *Journal) expire(end []byte, arn string) error {
	x, err := read(j.view, executionPrefix, arn, decodeListed)
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		return err
	}
	return j.write(func(b *pebble.Batch) error {
		errs := []error{b.Delete(end, nil)}
		if x != nil && x.Ended() {
			e := &encoder{}
			e.unindex(x, x.Status)
			errs = append(errs, e.fill(b))
		}
		for _, prefix := range [...]string{executionPrefix, textsPrefix, historyPrefix, eventsPrefix} {
			errs = append(errs, b.Delete([]byte(prefix+arn), nil))
		}
		return errors.Join(append(errs, j.expireMapRuns(b, arn+"\x00"))...)
	})
}

// expireMapRuns removes the Map Runs of the executions whose ARN begins with prefix, and their child executions.
func (j *Journal) expireMapRuns(b *pebble.Batch, prefix string) error {
	for m, err := range j.mapRuns(prefix) {
		if errors.Is(err, journal.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := j.expireMapRuns(b, m.Children); err != nil {
			return err
		}
		errs := []error{
			b.Delete([]byte(mapRunPrefix+m.ARN), nil), b.Delete([]byte(ofPrefix+m.Execution+"\x00"+m.ARN), nil),
		}
		for _, kept := range [...]string{executionPrefix, textsPrefix, historyPrefix, eventsPrefix, stepPrefix} {
			from := []byte(kept + m.Children)
			errs = append(errs, b.DeleteRange(from, prefixEnd(from), nil))
		}
		list := appendList(nil, journal.ListID(m.ARN))
		errs = append(errs, b.DeleteRange(list, prefixEnd(list), nil))
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}
