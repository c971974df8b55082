package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// processor is the processor time that a process has used, as Linux counts it in hundredths of a second; that of this
// process for 0. It is 0 where there is no such file.
func processor(pid int) time.Duration {
	name := "/proc/self/stat"
	if pid != 0 {
		name = fmt.Sprintf("/proc/%d/stat", pid)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	_, text, _ = bytes.Cut(text, []byte(") ")) // behind the name, which may have blanks
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
