// Command services measures how many requests per second stepback serve handles, and the processor time of each
// request, separately for the server and the clients. It starts no server; pass it the address and the process ID of
// one.
//
//	stepback serve --listen 127.0.0.1:4566 --data "$(mktemp -d)" &
//	go run ./bench/services -address http://127.0.0.1:4566 -pid $!
//
// It uses two kinds of clients, 16 of each. "sdk" is the AWS SDK for Go. "raw" writes prepared, signed requests to
// its own connections, and reads no more of a response than it needs. Because the SDK uses several times the server's
// processor time, raw shows the server's own rate.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// clients is the number of concurrent clients of each kind.
const clients = 16

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
	address := flag.String("address", "http://127.0.0.1:4566", "address of stepback serve")
	pid := flag.Int("pid", 0, "its process, whose processor time is counted; 0 counts none")
	during := flag.Duration("for", 5*time.Second, "how long each is measured")
	only := flag.String("only", ".", "measure what matches, such as sqs|raw")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		err = measure(context.Background(), *address, *pid, *during, pattern)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "services:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, address string, pid int, during time.Duration, only *regexp.Regexp) error {
	a := newAPIs(address)
	fmt.Fprintln(os.Stdout, "| workload | client | /s | server, µs of processor per request | clients, µs per request |\n"+
		"|---|---|---:|---:|---:|")
	for _, w := range workloads {
		for _, kind := range []string{"sdk", "raw"} {
			if !only.MatchString(w.name + " " + kind) {
				continue
			}
			act, err := prepare(ctx, a, &w, kind)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			own, server := processor(0), processor(pid)
			n, took, err := repeat(act, during)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			each := float64(n * int64(w.requests))
			fmt.Fprintf(os.Stdout, "| %s | %s | %.0f | %.0f | %.0f |\n", w.name, kind, float64(n)/took.Seconds(),
				float64((processor(pid)-server).Microseconds())/each, float64((processor(0)-own).Microseconds())/each)
		}
	}
	return nil
}

// prepare returns the action of each client, for the given kind of clients.
func prepare(ctx context.Context, a *apis, w *workload, kind string) ([]func() error, error) {
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
	for i := range all {
		c, err := dial(ctx, a.host)
		if err != nil {
			return nil, err
		}
		all[i] = func() error { return act(c) }
	}
	return all, nil
}

// repeat lets all clients repeat their actions for a while, and counts the repetitions.
func repeat(act []func() error, during time.Duration) (int64, time.Duration, error) {
	var n atomic.Int64
	var first atomic.Pointer[error]
	var wg sync.WaitGroup
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
		return 0, 0, *err
	}
	return n.Load(), time.Since(begin), nil
}
