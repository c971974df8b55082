package runner

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// peakMemory returns the most memory that a process has had resident, in megabytes rounded up, or 0 where /proc does
// not tell.
func peakMemory(pid int) int { return statusOf(pid, "VmHWM:") }

// residentMemory returns the memory of its own that a process has resident, without files that it has mapped, in
// megabytes rounded up, or 0 where /proc does not tell.
func residentMemory(pid int) int { return statusOf(pid, "RssAnon:") }

// statusOf reads a size from what the system says of a process.
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
