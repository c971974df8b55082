package runner

import (
	"bytes"
	"sync"
)

// maxLine is where a line without an end is cut.
const maxLine = 256 << 10

// lineWriter cuts what a process writes into lines and logs each with the invocation that runs. Lambda, too, counts
// late output to the next one.
type lineWriter struct {
	// A line that ends in mark is none of the process's; it is told to marked.
	mark   string
	marked chan struct{}

	mu      sync.Mutex
	current *invocationLog
	partial []byte
}

// log says whose lines come from now on.
func (w *lineWriter) log(l *invocationLog) {
	w.mu.Lock()
	w.current = l
	w.mu.Unlock()
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	current := w.current
	lines := w.cut(p)
	w.mu.Unlock()
	for _, line := range lines {
		rest, marked := bytes.CutSuffix(line, []byte(w.mark))
		if !marked {
			current.line(line)
			continue
		}
		if len(rest) > 0 {
			current.line(rest)
		}
		w.marked <- struct{}{}
	}
	return len(p), nil
}

// cut appends p to what was left over and takes the whole lines off.
func (w *lineWriter) cut(p []byte) [][]byte {
	w.partial = append(w.partial, p...)
	var lines [][]byte
	for {
		end := bytes.IndexByte(w.partial, '\n')
		if end < 0 && len(w.partial) < maxLine {
			return lines
		}
		if end < 0 { // what is cut off cannot hold a mark in part
			cut := len(w.partial) - len(w.mark)
			lines, w.partial = append(lines, w.partial[:cut:cut]), bytes.Clone(w.partial[cut:])
			return lines
		}
		lines = append(lines, bytes.TrimSuffix(w.partial[:end:end], []byte("\r")))
		w.partial = w.partial[end+1:]
	}
}

// flush logs a last line that has no end.
func (w *lineWriter) flush() {
	w.mu.Lock()
	current, rest := w.current, w.partial
	w.partial = nil
	w.mu.Unlock()
	if len(rest) > 0 {
		current.line(rest)
	}
}
