package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// row is a row of the comparison, with the results of all pieces of all runs.
type row struct {
	workload       *workload
	data           string
	servers, floor []rate
}

// compare measures stepback and the floor, on disk and in memory, and prints the medians of each workload as soon as it
// has been measured. After the time limit it begins no other workload, and returns an error that names the missing
// ones.
func compare(ctx context.Context, program string, o *options) error {
	began := time.Now()
	fmt.Fprintf(os.Stdout, "| workload, %d clients | data | /s | floor, /s | ratio | server, µs of processor per request | "+
		"floor, µs | ratio |\n|---|---|---:|---:|---:|---:|---:|---:|\n", o.clients)
	var missing []string
	for _, data := range []string{onDisk, inMemory} {
		for i := range workloads {
			r := &row{workload: &workloads[i], data: data}
			name := r.workload.name + " " + data
			switch {
			case !o.only.MatchString(name):
				continue
			case time.Since(began) > o.limit:
				missing = append(missing, name)
				continue
			}
			for range o.runs {
				if err := r.compare(ctx, program, o); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			r.print()
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the limit of %v has passed (-limit); not measured: %s", o.limit, strings.Join(missing, ", "))
	}
	return nil
}

func (r *row) print() {
	perSecond := func(r rate) float64 { return r.perSecond }
	spent := func(r rate) float64 { return r.server }
	n := float64(r.workload.requests)
	a, b := median(r.servers, perSecond), median(r.floor, perSecond)
	c, d := median(r.servers, spent)/n, median(r.floor, spent)/n
	fmt.Fprintf(os.Stdout, "| %s | %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f |\n", r.workload.name, r.data, a, b, a/b, c,
		d, c/d)
}

func median(all []rate, of func(rate) float64) float64 {
	values := make([]float64, len(all))
	for i, r := range all {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// compare starts stepback and the floor, and measures both. Each run has processes of its own, so that no workload
// depends on what others have left.
func (r *row) compare(ctx context.Context, program string, o *options) (err error) {
	dir, err := os.MkdirTemp("", "stepback-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	where := dir
	if r.data == inMemory {
		where = inMemory
	}
	address, err := unused(ctx)
	if err != nil {
		return err
	}
	server := exec.CommandContext(ctx, program, //nolint:gosec // the program that the caller names
		"serve", "-q", "--listen", address, "--data", where)
	said := new(bytes.Buffer)
	server.Stderr = said
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		_ = server.Process.Signal(os.Interrupt) // Wait reports a process that has ended
		if ended := server.Wait(); ended != nil || err != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w: %s", program, ended, said))
		}
	}()
	if err := await(ctx, address); err != nil {
		return err
	}
	bare, host, err := startFloor(ctx, r.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	return r.measure(ctx, newAPIs("http://"+address, o.clients), host, server.Process.Pid, bare.Process.Pid, o)
}

// measure measures the server and the floor at host.
func (r *row) measure(ctx context.Context, a *apis, host string, server, bare int, o *options) error {
	act, err := r.workload.raw(ctx, a)
	if err != nil {
		return err
	}
	again, err := replay(ctx, act, a.host, host)
	if err != nil {
		return err
	}
	type side struct {
		act []func() error
		pid int
		to  *[]rate
	}
	both := make([]side, 0, 2)
	for _, m := range []struct {
		host string
		act  func(*connection) error
		pid  int
		to   *[]rate
	}{{a.host, act, server, &r.servers}, {host, again, bare, &r.floor}} {
		all, end, err := connected(ctx, m.host, m.act, o.clients)
		if err != nil {
			return err
		}
		defer end()
		both = append(both, side{all, m.pid, m.to})
	}
	for spent := time.Duration(0); spent < o.during; spent += piece {
		for _, one := range both {
			result, err := repeat(one.act, piece, one.pid)
			if err != nil {
				return err
			}
			*one.to = append(*one.to, result)
		}
	}
	return nil
}

// piece is the time for which server and floor are measured in turn, so that other work on the machine affects both.
const piece = 500 * time.Millisecond

// unused returns an address on which nothing listens.
func unused(ctx context.Context) (string, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// await waits until a server responds.
func await(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/_stepback/health", http.NoBody)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			return answer.Body.Close()
		}
		select {
		case <-time.After(20 * time.Millisecond): //nolint:forbidigo // a real server
		case <-ctx.Done():
			return fmt.Errorf("the server at %s does not respond: %w", address, ctx.Err())
		}
	}
}

// child is a process that ends with its standard input.
type child struct {
	*exec.Cmd
	end func() error
}

func (c *child) stop() error { return errors.Join(c.end(), c.Wait()) }

// startFloor starts a floor in a process of its own, and returns its address.
func startFloor(ctx context.Context, data string) (*child, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	c := exec.CommandContext(ctx, self, "-floor", data) //nolint:gosec // this program
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := c.Start(); err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	return &child{c, in.Close}, strings.TrimSpace(line), err
}
