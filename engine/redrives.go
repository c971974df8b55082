package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"stepback/engine/journal"
	"stepback/internal/ctxerr"
)

// How long the client token of a redrive is remembered, and how many tokens per execution.
const (
	tokenPeriod = 15 * time.Minute
	maxTokens   = 10
)

// redrives ensures that only one redrive of an execution starts at a time.
type redrives struct {
	mu    sync.Mutex
	begun map[string]chan struct{} // by execution; closed when the redrive has started or was refused
}

// acquire waits until no other redrive of the execution is starting. The caller must call end when its redrive has
// started or was refused.
func (r *redrives) acquire(ctx context.Context, arn string) (end func(), err error) {
	for {
		r.mu.Lock()
		other := r.begun[arn]
		if other == nil {
			break
		}
		r.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctxerr.Of(ctx)
		}
	}
	defer r.mu.Unlock()
	if r.begun == nil {
		r.begun = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	r.begun[arn] = mine
	return func() {
		r.mu.Lock()
		delete(r.begun, arn)
		r.mu.Unlock()
		close(mine)
	}, nil
}

// redrivenWith returns the time of the redrive that used a client token, if the token is still remembered. It
// returns false if there is no such redrive.
func redrivenWith(x *journal.Execution, token string, now time.Time) (time.Time, bool) {
	i := slices.IndexFunc(x.RedriveTokens, func(t journal.RedriveToken) bool {
		return t.Token == token &&
			remembered(t, now)
	})
	if i < 0 {
		return time.Time{}, false
	}
	return x.RedriveTokens[i].At, true
}

func remembered(t journal.RedriveToken, now time.Time) bool { return now.Sub(t.At) <= tokenPeriod }

// rememberToken adds the token of the current redrive to the latest ones of its execution.
func rememberToken(x *journal.Execution, token string, now time.Time) {
	kept := make([]journal.RedriveToken, 0, len(x.RedriveTokens)+1) // readers of the journal may hold the slice of x
	for _, t := range x.RedriveTokens {
		if remembered(t, now) {
			kept = append(kept, t)
		}
	}
	if token != "" {
		kept = append(kept, journal.RedriveToken{Token: token, At: now})
	}
	x.RedriveTokens = slices.Clip(kept[max(0, len(kept)-maxTokens):])
	if len(x.RedriveTokens) == 0 {
		x.RedriveTokens = nil
	}
}
