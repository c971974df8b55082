package console

import (
	"fmt"
	"net/http"
	"time"
)

const (
	// tick is how long changes are gathered: all pages are told at its end, so that they share what they ask for.
	tick = 500 * time.Millisecond
	// heartbeat is how often a page that nothing changes is told that the server is there.
	heartbeat = 20 * time.Second
	// patience is how long a slow browser may take to take a line before it is given up.
	patience = 5 * time.Second
)

// Watch tells a page of changes.
type Watch struct {
	// Changed receives after a step, once until Again is called. Ended is closed when the server ends.
	Changed, Ended <-chan struct{}
	Again, Stop    func()
}

// stream tells a page, over server-sent events, that what it shows has changed. The page then asks for itself. The
// engine never waits for it: changes come over a channel of one place.
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

// until waits for a timer, unless the page or the server ends before.
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
