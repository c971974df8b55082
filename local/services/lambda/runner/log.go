package runner

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"stepback/aws"
)

// LogSink stores the logs of functions. WriteLog receives one or more whole lines, which it must not retain after
// returning; it is called from many goroutines.
type LogSink interface {
	WriteLog(to LogStream, lines []byte)
}

// LogStream identifies a log stream.
type LogStream struct {
	// Function is the name of the function. Group is its log group.
	Function, Group string
	// Name is the name of the stream. Each execution environment has its own: 2026/11/22/[$LATEST]4f0c…
	Name string
}

// stream returns the log stream of a new execution environment.
func (d *deployed) stream() LogStream { return LogStream{d.Name, d.LogGroup, StreamName(d.Version)} }

// StreamName returns a new stream name for a version, in Lambda's format.
func StreamName(version string) string {
	return time.Now().UTC().Format("2006/01/02") + "/[" + version + "]" + strings.ReplaceAll(aws.NewID(), "-", "")
}

// maxTail is the maximum size of the log tail that an invocation can request.
const maxTail = 4 << 10

// invocationLog writes the lines of one invocation unchanged to the stream of its execution environment and to the
// tail. The methods of a nil log do nothing.
type invocationLog struct {
	sink      LogSink // nil if only the tail is needed
	function  *deployed
	requestID string
	begun     time.Time
	opened    bool      // START has been written
	stream    LogStream // the environment's stream

	mu   sync.Mutex
	tail []byte // nil unless requested
	init time.Duration
	peak int // megabytes; 0 if unknown
}

func (s *Service) beginLog(d *deployed, requestID string, tail bool) *invocationLog {
	sink := s.opts.Logs
	if d.Quiet {
		sink = nil
	}
	if sink == nil && !tail {
		return nil
	}
	l := &invocationLog{sink: sink, function: d, requestID: requestID, begun: time.Now(),
		stream: LogStream{Function: d.Name, Group: d.LogGroup, Name: d.lost}}
	if tail {
		l.tail = []byte{}
	}
	return l
}

// start writes the start of an invocation in an environment that logs to stream, preceded by the line of a cold
// start.
func (l *invocationLog) start(cold bool, stream LogStream) {
	if l == nil {
		return
	}
	l.stream = stream
	var text string
	if cold {
		text = "INIT_START Runtime Version: " + l.function.Interpreter + "\n"
	}
	if !l.opened { // skipped for an environment that replaces one that had ended
		text += "START RequestId: " + l.requestID + " Version: " + l.function.Version + "\n"
	}
	l.opened = true
	l.write(text)
}

// started records when the function received its event, and how long a cold start took; 0 means a warm start.
func (l *invocationLog) started(init time.Duration) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun, l.init = time.Now(), init
}

// initTimedOut writes that the init phase has timed out.
func (l *invocationLog) initTimedOut(after time.Duration) {
	if l == nil {
		return
	}
	text := fmt.Sprintf("INIT_REPORT Init Duration: %.2f ms\tPhase: init\tStatus: timeout\n", milliseconds(after))
	l.write(text)
}

// measured records the peak memory of the environment.
func (l *invocationLog) measured(megabytes int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.peak = megabytes
}

// line logs a line that the function wrote, given without its newline.
func (l *invocationLog) line(text []byte) {
	if l != nil {
		l.write(string(text) + "\n")
	}
}

// end logs a function error, unless the runtime did, and the lines with which the service ends an invocation.
func (l *invocationLog) end(a answer) {
	if l == nil {
		return
	}
	switch {
	case a.log != "":
		for line := range strings.SplitSeq(a.log, "\n") {
			l.line([]byte(line))
		}
	case a.failed && !a.logged:
		l.line(a.payload)
	}
	var b bytes.Buffer
	l.mu.Lock()
	took, init, peak := time.Since(l.begun), l.init, l.peak
	l.mu.Unlock()
	fmt.Fprintf(&b, "END RequestId: %s\n", l.requestID)
	fmt.Fprintf(&b, "REPORT RequestId: %s\tDuration: %.2f ms\tBilled Duration: %d ms\tMemory Size: %d MB",
		l.requestID, milliseconds(took), int((took+init+time.Millisecond-1)/time.Millisecond), l.function.MemoryMB)
	if peak > 0 {
		fmt.Fprintf(&b, "\tMax Memory Used: %d MB", peak)
	}
	if init > 0 {
		fmt.Fprintf(&b, "\tInit Duration: %.2f ms", milliseconds(init))
	}
	b.WriteString(a.status + "\n")
	l.write(b.String())
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// write logs text.
func (l *invocationLog) write(text string) {
	if l.sink != nil {
		l.sink.WriteLog(l.stream, []byte(text))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tail != nil {
		l.tail = append(l.tail, text...)
		l.tail = l.tail[max(0, len(l.tail)-maxTail):]
	}
}

func (l *invocationLog) lastBytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.tail)
}
