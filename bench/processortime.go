package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// The columns of /proc/self/stat, counted after the command's name, and the unit of their values. The name ends at
// the last bracket and may contain spaces.
const (
	userTicks, systemTicks = 11, 12
	ticksPerSecond         = 100
)

// cost is the time that a piece of work took, in seconds: wall clock time, and processor time of all cores. Processor
// time is more informative if the machine has other work.
type cost struct{ wall, processor float64 }

// costOf measures a function that must be the only work of the process.
func costOf(f func() error) (cost, error) {
	before, err := processorTime()
	if err != nil {
		return cost{}, err
	}
	began := time.Now()
	if err := f(); err != nil {
		return cost{}, err
	}
	wall := time.Since(began).Seconds()
	after, err := processorTime()
	return cost{wall, after - before}, err
}

// besideFloor measures a rate and its floor, one after the other, with the processor time of both.
func besideFloor(floor, rate func() (float64, error)) (r reading, err error) {
	for _, m := range []struct {
		rate             func() (float64, error)
		value, processor *float64
	}{{floor, &r.floor, &r.floorProcessor}, {rate, &r.value, &r.processor}} {
		c, err := costOf(func() (err error) {
			*m.value, err = m.rate()
			return err
		})
		if err != nil {
			return reading{}, err
		}
		*m.processor = c.processor
	}
	return r, nil
}

// processorTime returns the processor time that this process has used so far, in user and kernel mode, in seconds.
func processorTime() (float64, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= systemTicks {
		return 0, fmt.Errorf("/proc/self/stat has %d columns behind the name, expected more than %d", len(fields),
			systemTicks)
	}
	user, err := strconv.ParseInt(string(fields[userTicks]), 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(string(fields[systemTicks]), 10, 64)
	return float64(user+system) / ticksPerSecond, err
}
