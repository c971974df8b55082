package console

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	// tick is the interval over which changes are collected. All pages are notified at its end, so that they share
	// the data they request.
	tick = 500 * time.Millisecond
	// heartbeat is the interval at which a page without changes gets a sign of life from the server.
	heartbeat = 20 * time.Second
	// patience is the time a slow browser has to accept a line before its stream is closed.
	patience = 5 * time.Second
	// leastEvery is the shortest interval, in seconds, at which a page can ask to be updated regularly.
	leastEvery = 5
)

// Watch notifies a page of changes.
type Watch struct {
	// Changed receives once after a step, and again only after Again has been called. Ended is closed when the server
	// ends.
	Changed, Ended <-chan struct{}
	Again, Stop    func()
}

// stream notifies a page, by server-sent events, that its content has changed; the page then reloads it. The engine
// never waits for a page: changes are sent over a channel with a buffer of one.
func (c *Console) stream(w http.ResponseWriter, r *http.Request) {
	watch := c.cfg.Changes(r.URL.Query()["of"])
	defer watch.Stop()
	defer c.pace.open()()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	say := func(format string, args ...any) bool {
		_ = out.SetWriteDeadline(time.Now().Add(patience))
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && out.Flush() == nil
	}
	if !say("retry: 2000\n\n") {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	var regular <-chan time.Time
	if every, err := strconv.Atoi(r.URL.Query().Get("every")); err == nil && every >= leastEvery {
		t := time.NewTicker(time.Duration(every) * time.Second)
		defer t.Stop()
		regular = t.C
	}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for n := 1; ; n++ {
		select {
		case <-r.Context().Done():
			return
		case <-watch.Ended:
			return
		case <-beat.C:
			if !say(": here\n\n") {
				return
			}
			continue
		case <-regular:
			if !say("id: %d\nevent: change\ndata: {}\n\n", n) {
				return
			}
			continue
		case <-watch.Changed:
		}
		now := time.Now()
		pause.Reset(now.Truncate(tick).Add(tick).Sub(now))
		if !until(r, watch, pause) {
			return
		}
		watch.Again()
		if !say("id: %d\nevent: change\ndata: {}\n\n", n) {
			return
		}
		pause.Reset(c.pace.rest())
		if !until(r, watch, pause) {
			return
		}
	}
}

// until waits for a timer. It returns false if the page or the server ends first.
func until(r *http.Request, w Watch, t *time.Timer) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-w.Ended:
		return false
	case <-t.C:
		return true
	}
}
