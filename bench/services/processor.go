package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// processor returns the processor time that a process has used, as Linux counts it in hundredths of a second; pid 0
// is this process. It returns 0 if the file does not exist.
func processor(pid int) time.Duration {
	name := "/proc/self/stat"
	if pid != 0 {
		name = fmt.Sprintf("/proc/%d/stat", pid)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	_, text, _ = bytes.Cut(text, []byte(") ")) // after the name, which may contain blanks
	const user, system, tick = 11, 12, 10 * time.Millisecond
	fields := bytes.Fields(text)
	if len(fields) <= system {
		return 0
	}
	var sum time.Duration
	for _, i := range []int{user, system} {
		n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
}
