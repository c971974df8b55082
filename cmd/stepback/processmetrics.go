package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"

	"stepback/retrymetrics/exposition"
)

// exposed serves Prometheus the metrics of executions, and those of the process under the names that Prometheus's own
// clients use.
type exposed struct{ executions *exposition.Exposition }

// ServeHTTP implements http.Handler.
func (s exposed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.executions.ServeHTTP(w, r)
	if r.Method == http.MethodGet {
		writeProcessMetrics(w)
	}
}

// writeProcessMetrics writes the number of goroutines and, where the system provides them (Linux), memory and file
// descriptors.
func writeProcessMetrics(w io.Writer) {
	gauge := func(name string, value int) { fmt.Fprintf(w, "# TYPE %s gauge\n%s %d\n", name, name, value) }
	gauge("go_goroutines", runtime.NumGoroutine())
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		gauge("process_open_fds", len(open)-1) // without the descriptor that reads them
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(status)) {
		var kb int
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kb); err == nil {
			gauge("process_resident_memory_bytes", kb<<10)
		}
	}
}
