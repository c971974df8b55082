package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measurement is one row of the table.
type measurement struct {
	name, unit, target string
	once               bool // takes too long, or varies too little, for several runs
	measure            func(ctx context.Context, dir string) (reading, error)
}

// reading is the result of one run. floor is the figure for the same work without stepback, if there is one. The
// processor times of both, in seconds, are 0 if they are not measured.
type reading struct{ value, floor, processor, floorProcessor float64 }

// result holds the runs of a measurement.
type result struct {
	measurement
	values, floors             []float64
	processor, floorsProcessor []float64
}

// repeated runs the measurement several times, each in a fresh directory. Figure and floor alternate, so that both
// see the same machine state.
func (m measurement) repeated(ctx context.Context, runs int) (*result, error) {
	r := &result{measurement: m}
	if m.once {
		runs = 1
	}
	for range runs {
		dir, err := os.MkdirTemp("", "stepback-bench-")
		if err != nil {
			return nil, err
		}
		s, err := m.measure(ctx, dir)
		if removed := os.RemoveAll(dir); err == nil {
			err = removed
		}
		if err != nil {
			return nil, err
		}
		r.values = append(r.values, s.value)
		if s.floor > 0 {
			r.floors = append(r.floors, s.floor)
		}
		if s.floorProcessor > 0 {
			r.processor = append(r.processor, s.processor)
			r.floorsProcessor = append(r.floorsProcessor, s.floorProcessor)
		}
	}
	return r, nil
}

const columns = "| %-58s | %14s | %17s | %10s | %6s | %-40s |\n"

func printHead() {
	fmt.Fprintf(os.Stdout, columns, "measurement", "median", "spread", "floor", "ratio", "target")
	fmt.Fprintf(os.Stdout, columns, "---", "---", "---", "---", "---", "---")
}

// print prints a row of the table, which is valid Markdown.
func (r *result) print() {
	floor, ratio := "", ""
	if len(r.floors) > 0 {
		floor = formatFigure(median(r.floors))
		ratio = fmt.Sprintf("%.2f", median(r.values)/median(r.floors))
	}
	spread := ""
	if len(r.values) > 1 {
		spread = formatFigure(slices.Min(r.values)) + "–" + formatFigure(slices.Max(r.values))
	}
	fmt.Fprintf(os.Stdout, columns, r.name, formatFigure(median(r.values))+" "+r.unit, spread, floor, ratio, r.target)
	if len(r.processor) > 0 {
		r.printProcessor()
	}
}

// printProcessor prints a row with the processor time of the row above it.
func (r *result) printProcessor() {
	spent, floor := median(r.processor), median(r.floorsProcessor)
	fmt.Fprintf(os.Stdout, columns, "– its processor time", formatFigure(spent)+" s",
		formatFigure(slices.Min(r.processor))+"–"+formatFigure(slices.Max(r.processor)), formatFigure(floor),
		fmt.Sprintf("%.2f", spent/floor), "for scale")
}

// formatFigure formats a number with three digits, or from 1,000 on as a whole number.
func formatFigure(v float64) string {
	if v >= 1000 {
		return thousands(int(v))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return s[len(s)/2]
}

// timed returns the duration of a function in seconds.
func timed(f func() error) (float64, error) {
	began := time.Now()
	err := f()
	return time.Since(began).Seconds(), err
}

// thousands formats a count for a heading.
func thousands(n int) string {
	s := strconv.Itoa(n)
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, parts...), ",")
}
