package runner

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// peakMemory returns the peak resident memory of a process, in megabytes rounded up, or 0 if /proc does not provide
// it.
func peakMemory(pid int) int { return statusOf(pid, "VmHWM:") }

// residentMemory returns the resident memory of a process without mapped files, in megabytes rounded up, or 0 if
// /proc does not provide it.
func residentMemory(pid int) int { return statusOf(pid, "RssAnon:") }

// statusOf returns a size from a process's status file.
func statusOf(pid int, name string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(status, []byte(name))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		return 0
	}
	return (kilobytes + 1023) / 1024
}
