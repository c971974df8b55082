// Command services measures how many requests per second stepback serve handles, and the processor time of each
// request, separately for the server and the clients.
//
//	go build -o /tmp/stepback ./cmd/stepback
//	go run ./bench/services -stepback /tmp/stepback
//
// This starts servers with their data on disk and in memory, and prints for each workload the ratio to a floor: a bare
// Go HTTP server in a process of its own, which exchanges the same bytes with the same clients and stores what changes
// something (see floor.go). Server and floor take turns every half second. A row is printed as soon as it has been
// measured; all rows take about four minutes on two cores. With -address and -pid, it measures a server that runs
// already, without a floor.
//
// It uses two kinds of clients, 16 of each unless -clients says otherwise. "sdk" is the AWS SDK for Go. "raw" writes
// prepared, signed requests to its own connections, and reads no more of a response than it needs. Because the SDK uses
// several times the server's processor time, raw shows the server's own rate; floors are measured with raw alone.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// options holds the command line options.
type options struct {
	address string
	pid     int
	during  time.Duration
	only    *regexp.Regexp
	clients int
	runs    int
	limit   time.Duration
}

// workload is an action that clients repeat.
type workload struct {
	name string
	// requests is the number of requests in each repetition.
	requests int
	// sdk and raw prepare the workload; the function they return is called by one client at a time.
	sdk func(context.Context, *apis) (func(context.Context) error, error)
	raw func(context.Context, *apis) (func(*connection) error, error)
}

func main() {
	var o options
	flag.StringVar(&o.address, "address", "http://127.0.0.1:4566", "address of a stepback serve that runs")
	flag.IntVar(&o.pid, "pid", 0, "its process, whose processor time is counted; 0 counts none")
	flag.DurationVar(&o.during, "for", 0, "how long each is measured, in each run; 0 means 5 s, or 1.5 s with -stepback")
	flag.IntVar(&o.clients, "clients", 16, "number of concurrent clients")
	flag.IntVar(&o.runs, "runs", 3, "runs with -stepback, of which the medians are printed")
	flag.DurationVar(&o.limit, "limit", 5*time.Minute, "with -stepback: begin no workload after this time")
	only := flag.String("only", ".", "measure what matches, such as sqs|raw; with -stepback, such as PutItem.*memory")
	stepback := flag.String("stepback", "", "program to start, and to compare with floors")
	floor := flag.String("floor", "", "used by services itself: serve the floor of data on a disk or in memory")
	flag.Parse()
	var err error
	ctx := context.Background()
	switch o.only, err = regexp.Compile(*only); {
	case err != nil:
	case *floor != "":
		err = serveFloor(ctx, *floor)
	case *stepback != "":
		o.during = cmp.Or(o.during, 3*piece)
		err = compare(ctx, *stepback, &o)
	default:
		o.during = cmp.Or(o.during, 5*time.Second)
		err = measure(ctx, &o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "services:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, o *options) error {
	a := newAPIs(o.address, o.clients)
	fmt.Fprintln(os.Stdout, "| workload | client | /s | server, µs of processor per request | clients, µs per request |\n"+
		"|---|---|---:|---:|---:|")
	for _, w := range workloads {
		for _, kind := range []string{"sdk", "raw"} {
			if !o.only.MatchString(w.name+" "+kind) || kind == "sdk" && w.sdk == nil {
				continue
			}
			act, err := prepare(ctx, a, &w, kind, o.clients)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			r, err := repeat(act, o.during, o.pid)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			fmt.Fprintf(os.Stdout, "| %s | %s | %.0f | %.0f | %.0f |\n", w.name, kind, r.perSecond,
				r.server/float64(w.requests), r.clients/float64(w.requests))
		}
	}
	return nil
}

// prepare returns the action of each client, for the given kind of clients.
func prepare(ctx context.Context, a *apis, w *workload, kind string, clients int) ([]func() error, error) {
	all := make([]func() error, clients)
	if kind == "sdk" {
		act, err := w.sdk(ctx, a)
		for i := range all {
			all[i] = func() error { return act(ctx) }
		}
		return all, err
	}
	act, err := w.raw(ctx, a)
	if err != nil {
		return nil, err
	}
	all, _, err = connected(ctx, a.host, act, clients)
	return all, err
}

// connected returns the action of each client, over a connection of its own. end closes the connections.
func connected(ctx context.Context, host string, act func(*connection) error, clients int) (all []func() error, end func(), err error) {
	var open []*connection
	end = func() {
		for _, c := range open {
			_ = c.Close()
		}
	}
	for range clients {
		c, err := dial(ctx, host)
		if err != nil {
			end()
			return nil, nil, err
		}
		open = append(open, c)
		all = append(all, func() error { return act(c) })
	}
	return all, end, nil
}

// rate is the result of a measurement. server and clients are the processor times of one repetition, in µs.
type rate struct{ perSecond, server, clients float64 }

// repeat lets all clients repeat their actions for a while, and counts the repetitions and the processor time of the
// server with a process ID.
func repeat(act []func() error, during time.Duration, pid int) (rate, error) {
	var n atomic.Int64
	var first atomic.Pointer[error]
	var wg sync.WaitGroup
	own, server := processor(0), processor(pid)
	begin := time.Now()
	for _, act := range act {
		wg.Go(func() {
			for time.Since(begin) < during && first.Load() == nil {
				if err := act(); err != nil {
					first.CompareAndSwap(nil, &err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	if err := first.Load(); err != nil {
		return rate{}, *err
	}
	each := float64(n.Load())
	return rate{each / time.Since(begin).Seconds(), float64((processor(pid) - server).Microseconds()) / each,
		float64((processor(0) - own).Microseconds()) / each}, nil
}
