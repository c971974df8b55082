package console

import (
	"fmt"
	"net/http"
	"time"
)

const (
	// rest is the shortest time between two updates of a page.
	rest = time.Second
	// heartbeat is how often a page that nothing changes is told that the server is there.
	heartbeat = 20 * time.Second
	// patience is how long a slow browser may take to take a line before it is given up.
	patience = 5 * time.Second
)

// stream tells a page, over server-sent events, that what it shows has changed. The page then asks for itself. The
// engine never waits for it: changes come over a channel of one place.
func (c *Console) stream(w http.ResponseWriter, r *http.Request) {
	changed, stop := c.cfg.Changes(r.URL.Query().Get("of"))
	defer stop()
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
	for n := 1; ; n++ {
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			if !say(": here\n\n") {
				return
			}
			continue
		case _, ok := <-changed:
			if !ok { // the server ends
				return
			}
		}
		if !say("id: %d\nevent: change\ndata: {}\n\n", n) {
			return
		}
		pause := time.NewTimer(rest)
		select {
		case <-r.Context().Done():
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}
