// Command bench measures stepback against floors that run in the same process, so that its figures are ratios and mean the
// same on a fast and a slow machine. It prints a table; docs and RESULTS.md say what the figures should be.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// result is one measured figure.
type result struct {
	name   string
	unit   string
	values []float64
	floor  []float64 // the same work without stepback, when there is a floor
	target string
}

func main() {
	rows := flag.Int("rows", 100_000, "rows of the CSV job")
	runs := flag.Int("runs", 3, "runs of each measurement")
	big := flag.Int("memory-rows", 1_000_000, "rows of the memory measurement; 0 leaves it out")
	child := flag.String("child", "", "used by bench itself")
	profile := flag.String("cpuprofile", "", "file for a CPU profile of the CSV job")
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300) // as the command does
	}
	var err error
	if *child != "" {
		err = memoryChild(context.Background(), *child, *big)
	} else {
		err = bench(context.Background(), *rows, *runs, *big, *profile)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, rows, runs, big int, profile string) error {
	var results []result
	r, err := transitions(runs)
	if err != nil {
		return err
	}
	results = append(results, r)
	if r, err = csvJob(ctx, rows, runs, profile); err != nil {
		return err
	}
	results = append(results, r)
	if big > 0 {
		if r, err = memory(ctx, big); err != nil {
			return err
		}
		results = append(results, r)
	}
	printTable(results)
	return nil
}

func printTable(results []result) {
	w := os.Stdout
	fmt.Fprintf(w, "%-58s %12s %16s %10s %8s  %s\n", "measurement", "median", "spread", "floor", "ratio", "target")
	for _, r := range results {
		floor, ratio := "", ""
		if len(r.floor) > 0 {
			floor = fmt.Sprintf("%.3g", median(r.floor))
			ratio = fmt.Sprintf("%.2f", median(r.values)/median(r.floor))
		}
		spread := fmt.Sprintf("%.3g–%.3g", slices.Min(r.values), slices.Max(r.values))
		fmt.Fprintf(w, "%-58s %12s %16s %10s %8s  %s\n", r.name, fmt.Sprintf("%.3g %s", median(r.values), r.unit), spread, floor, ratio, r.target)
	}
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return s[len(s)/2]
}

// timed measures a function in seconds.
func timed(f func() error) (float64, error) {
	began := time.Now()
	err := f()
	return time.Since(began).Seconds(), err
}

// thousands writes a count for a heading.
func thousands(n int) string {
	s := strconv.Itoa(n)
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, parts...), ",")
}
