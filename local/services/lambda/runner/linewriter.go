package runner

import (
	"bytes"
	"sync"
)

// maxLine is the length at which a line without a newline is cut.
const maxLine = 256 << 10

// lineWriter splits the output of a process into lines and logs each line with the current invocation. Like Lambda,
// it attributes late output to the next invocation.
type lineWriter struct {
	// A line that ends in mark does not come from the process; it is signalled on marked.
	mark   string
	marked chan struct{}

	mu      sync.Mutex
	current *invocationLog
	partial []byte
}

// log sets the invocation to which further lines belong.
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

// cut appends p to the unfinished line and returns the complete lines.
func (w *lineWriter) cut(p []byte) [][]byte {
	w.partial = append(w.partial, p...)
	var lines [][]byte
	for {
		end := bytes.IndexByte(w.partial, '\n')
		if end < 0 && len(w.partial) < maxLine {
			return lines
		}
		if end < 0 { // a cut-off line cannot contain part of a mark
			cut := len(w.partial) - len(w.mark)
			lines, w.partial = append(lines, w.partial[:cut:cut]), bytes.Clone(w.partial[cut:])
			return lines
		}
		lines = append(lines, bytes.TrimSuffix(w.partial[:end:end], []byte("\r")))
		w.partial = w.partial[end+1:]
	}
}

// flush logs a last line without a newline.
func (w *lineWriter) flush() {
	w.mu.Lock()
	current, rest := w.current, w.partial
	w.partial = nil
	w.mu.Unlock()
	if len(rest) > 0 {
		current.line(rest)
	}
}
