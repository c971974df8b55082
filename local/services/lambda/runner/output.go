package runner

import (
	"crypto/rand"
	"io"
	"os"
)

// output is the pipe to which a process writes its log. This process keeps a writing end, too. Once a response has
// arrived, it writes a mark there; when the mark is read, everything that the process wrote before its response has
// been read.
type output struct {
	lines lineWriter
	r, w  *os.File
	mark  []byte
	ended chan struct{}
}

// openOutput opens the pipe and starts reading; close stops the reading.
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
		_, _ = io.Copy(&o.lines, r) // ends when the pipe is closed
	}()
	return o, nil
}

// sync waits until everything written so far is logged.
func (o *output) sync() {
	if _, err := o.w.Write(o.mark); err != nil {
		return
	}
	select {
	case <-o.lines.marked:
	case <-o.ended:
	}
}

// close logs everything that the process has written, and stops reading. The process has ended, but child processes
// that could not be killed with it may still hold the pipe open.
func (o *output) close() {
	o.sync()
	_ = o.w.Close()
	_ = o.r.Close()
	<-o.ended
	o.lines.flush()
}
