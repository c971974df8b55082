package engine

import (
	"slices"
	"sync"
	"time"
)

// tokenPeriod is how long the token of a redrive is remembered.
const tokenPeriod = 15 * time.Minute

// redrives are the redrives that are being begun, and the tokens of the latest ones.
type redrives struct {
	mu     sync.Mutex
	begun  map[string]bool // by execution
	latest []redriveToken  // oldest first
}

type redriveToken struct {
	arn, token string
	at         time.Time
}

// begin reserves an execution for one redrive; false when another one has it. Who began says so when it is done.
func (r *redrives) begin(arn string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun[arn] {
		return false
	}
	if r.begun == nil {
		r.begun = map[string]bool{}
	}
	r.begun[arn] = true
	return true
}

func (r *redrives) end(arn string) {
	r.mu.Lock()
	delete(r.begun, arn)
	r.mu.Unlock()
}

// find returns when an execution was redriven with a token.
func (r *redrives) find(arn, token string, now time.Time) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest = slices.DeleteFunc(r.latest, func(t redriveToken) bool { return now.Sub(t.at) > tokenPeriod })
	i := slices.IndexFunc(r.latest, func(t redriveToken) bool { return t.arn == arn && t.token == token })
	if i < 0 || token == "" {
		return time.Time{}, false
	}
	return r.latest[i].at, true
}

func (r *redrives) remember(arn, token string, at time.Time) {
	if token == "" {
		return
	}
	r.mu.Lock()
	r.latest = append(r.latest, redriveToken{arn, token, at})
	r.mu.Unlock()
}
