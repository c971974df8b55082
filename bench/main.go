// Command bench measures stepback against floors that run in the same process, so that its figures are ratios and
// mean the same on a fast and a slow machine. It prints a table; RESULTS.md keeps past tables and the targets.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"strings"

	"stepback/internal/gcpace"
)

// options holds the command line options.
type options struct {
	only    *regexp.Regexp // of names
	runs    int
	rows    int
	big     int
	profile string
	scale   string
	most    int
}

func main() {
	var o options
	only := flag.String("only", "", "regular expression: measure only what has a matching name")
	flag.IntVar(&o.runs, "runs", 3, "runs of each measurement")
	flag.IntVar(&o.rows, "rows", 100_000, "rows of the CSV job")
	flag.IntVar(&o.big, "big", 1_000_000, "rows and children of the measurements of memory; 0 leaves these out")
	flag.StringVar(&o.profile, "cpuprofile", "", "file for a CPU profile of what is measured, floors included")
	flag.StringVar(&o.scale, "scale", "", "directory for pictures: measure how cost grows with sizes instead, in curves whose names match -only")
	flag.IntVar(&o.most, "most", 1_000_000, "largest size of -scale")
	child := flag.String("child", "", "used by bench itself: measure the memory of this job")
	dir := flag.String("dir", "", "used by bench itself")
	flag.Parse()
	gcpace.Default.Keep() // as the command does
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	if strings.HasPrefix(*child, scalePrefix) {
		err = scaleChild(ctx, *child, *dir, o.big)
	} else if strings.HasPrefix(*child, leftPrefix) {
		err = leaveChild(ctx, *child, *dir, o.big)
	} else if *child != "" {
		err = memoryChild(ctx, *child, *dir, o.big)
	} else if o.only, err = regexp.Compile(*only); err == nil {
		if o.scale != "" {
			err = scale(ctx, o)
		} else {
			err = bench(ctx, o)
		}
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench runs the selected measurements and prints the table row by row.
func bench(ctx context.Context, o options) error {
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	printHead()
	for _, m := range measurements(o) {
		if !o.only.MatchString(m.name) {
			continue
		}
		r, err := m.repeated(ctx, o.runs)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		r.print()
	}
	return nil
}

// measurements returns the rows of the table.
func measurements(o options) []measurement {
	list := []measurement{
		transitions(), fsyncs(), steps(), durableSteps(),
		starts(), oneState(50), oneState(99),
		inlineMap(), distributedMap(1), distributedMap(100),
		csvJob(o.rows), csvJobOverUpserts(o.rows),
		durableMemory(), durableRestart(),
		restart(waitingExecutions), restarted(waitingExecutions),
		recovery(), // last, because its 100,000 goroutines leave the process with 50 MB that Go keeps for reuse
	}
	if os.Getenv(postgresVariable) != "" {
		list = append(list, csvJobOverCopy(o.rows))
	}
	if o.big > 0 {
		list = append(list, memory("rows", o.big, 300), memory("children", o.big, 1000), resumedMemory(o.big),
			restart(o.big), restarted(o.big))
	}
	return list
}
