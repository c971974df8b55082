package runner

import (
	"crypto/rand"
	"io"
	"os"
	"time"
)

// output is the pipe into which a process writes what is logged. This process keeps a writing end, too: a mark written
// there when an answer has come is read after everything that the process wrote before it answered.
type output struct {
	lines lineWriter
	r, w  *os.File
	mark  []byte
	ended chan struct{}
}

// openOutput starts to read; close ends that.
func openOutput() (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	token := "\x00" + rand.Text()
	o := &output{r: r, w: w, mark: []byte(token + "\n"), ended: make(chan struct{})}
	o.lines.mark, o.lines.marked = token, make(chan struct{}, 1)
	go func() {
		defer close(o.ended)
		_, _ = io.Copy(&o.lines, r) // it ends when the pipe is closed
	}()
	return o, nil
}

// sync waits until what has been written so far is logged.
func (o *output) sync() {
	if _, err := o.w.Write(o.mark); err != nil {
		return
	}
	select {
	case <-o.lines.marked:
	case <-o.ended:
	}
}

// close ends the reading. The process has ended; what it started, and could not be killed with it, may hold the pipe
// for a moment more.
func (o *output) close() {
	_ = o.w.Close()
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	select {
	case <-o.ended:
	case <-limit.C:
	}
	_ = o.r.Close()
	<-o.ended
	o.lines.flush()
}
