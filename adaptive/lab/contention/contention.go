// Package contention compares jitter strategies as the article "Exponential Backoff And Jitter" of the AWS
// Architecture Blog does: N clients change one row under optimistic concurrency control. Each reads the row's
// version, writes with it, and backs off and starts over if another client was faster. The package counts the writes
// that the server gets, and measures the time until all clients are done.
//
// The waits are computed by retry.Policy. The package does no I/O; the same seed gives the same numbers.
package contention

import (
	"fmt"
	"math"
	"time"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/statistics"
	"stepback/retry"
)

// MaxClients and MaxTrials bound a comparison.
const (
	MaxClients = 2000
	MaxTrials  = 1000
)

// Strategy is one way to wait.
type Strategy struct {
	// Name is the article's name for it.
	Name string
	// Policy computes the waits; nil does not wait.
	Policy *retry.Policy
}

// The base and the cap of the article.
const (
	Base = 5 * time.Millisecond
	Cap  = 2000 * time.Millisecond
)

// Strategies returns none, exponential, decorrelated, equal and full, in the article's order, for a base and a cap.
// In the article the first wait grows from base × 2, so Interval is twice the base. Decorrelated jitter starts from
// the base itself.
func Strategies(base, limit time.Duration) []Strategy {
	policy := func(interval time.Duration, j retry.Jitter) *retry.Policy {
		return &retry.Policy{
			Interval: interval, Rate: 2, MaxDelay: limit, MaxAttempts: math.MaxInt32, Jitter: j,
		}
	}
	return []Strategy{
		{"none", nil},
		{"exponential", policy(2*base, retry.JitterNone)},
		{"decorrelated", policy(base, retry.JitterDecorrelated)},
		{"equal", policy(2*base, retry.JitterPartial)},
		{"full", policy(2*base, retry.JitterFull)},
	}
}

// Options are the parameters of one comparison.
type Options struct {
	// Clients is the number of contending clients, 1 to MaxClients. Trials is the number of trials to average over, 1
	// to MaxTrials.
	Clients, Trials int
	// Base and Cap are the base and the cap of the waits; 0 means the article's value.
	Base, Cap time.Duration
	Seed      uint64
}

// Result is the result of one strategy, averaged over the trials, with 95 % intervals.
type Result struct {
	Strategy string
	// Calls is the number of writes that the server got. Completion is the time in seconds until the last client
	// was done.
	Calls, Completion statistics.Estimate
}

// Validate returns an error if a value is out of range.
func (c Options) Validate() error {
	switch {
	case c.Clients < 1 || c.Clients > MaxClients:
		return fmt.Errorf("%d clients are out of range; give 1 to %d", c.Clients, MaxClients)
	case c.Trials < 1 || c.Trials > MaxTrials:
		return fmt.Errorf("%d trials are out of range; give 1 to %d", c.Trials, MaxTrials)
	case c.Base < 0 || c.Cap < 0 || c.Base > time.Hour || c.Cap > 24*time.Hour:
		return fmt.Errorf("base %s or cap %s is out of range; give 1ns to 1h and to 24h", c.Base, c.Cap)
	}
	return nil
}

// Compare runs all strategies. It returns an error if the options are invalid.
func Compare(c Options) ([]Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Base == 0 {
		c.Base = Base
	}
	if c.Cap == 0 {
		c.Cap = Cap
	}
	var results []Result
	for i, s := range Strategies(c.Base, c.Cap) {
		calls, seconds := make([]float64, c.Trials), make([]float64, c.Trials)
		for t := range c.Trials {
			o := occ{strategy: s, seed: c.Seed + uint64(t), purpose: draw.Purpose(100 + i)}
			n, last := o.run(c.Clients)
			calls[t], seconds[t] = float64(n), last.Seconds()
		}
		results = append(results, Result{s.Name, statistics.Mean(calls), statistics.Mean(seconds)})
	}
	return results, nil
}

// step is a client's next step.
type step uint8

const (
	read      step = iota // its read reaches the server
	readBack              // the version reaches the client
	write                 // its write reaches the server
	writeBack             // the outcome reaches the client
)

type client struct {
	attempt  int
	version  int
	written  bool
	previous time.Duration
	net      draw.Stream // network delays
	jitter   draw.Stream
}

// occ simulates one trial with the article's model of optimistic concurrency control.
type occ struct {
	strategy Strategy
	seed     uint64
	purpose  draw.Purpose

	version int
	calls   int
	clients []client
	heap    []message
}

// message is a message that reaches the server or a client.
type message struct {
	at     time.Duration
	client int
	step   step
}

// run simulates the trial with n clients. It returns the number of writes, and the time at which the last client
// was done.
func (o *occ) run(n int) (calls int, last time.Duration) {
	o.clients = make([]client, n)
	for i := range o.clients {
		o.clients[i].net = draw.Of(o.seed, o.purpose, uint64(i), 1)
		o.clients[i].jitter = draw.Of(o.seed, o.purpose, uint64(i), 2)
		o.send(0, i, read)
	}
	for len(o.heap) > 0 {
		m := o.pop()
		last = m.at
		o.receive(m)
	}
	return o.calls, last
}

func (o *occ) receive(m message) {
	c := &o.clients[m.client]
	switch m.step {
	case read:
		c.version = o.version
		o.send(m.at, m.client, readBack)
	case readBack:
		o.send(m.at, m.client, write)
	case write:
		o.calls++
		if c.written = c.version == o.version; c.written {
			o.version++
		}
		o.send(m.at, m.client, writeBack)
	case writeBack:
		if c.written {
			return
		}
		c.attempt++
		if p := o.strategy.Policy; p != nil {
			c.previous = p.DelayAfter(c.attempt, c.previous, &c.jitter)
			m.at += c.previous
		}
		o.send(m.at, m.client, read)
	}
}

// send schedules a client's next step after the network delay, which is normally distributed with mean 10 ms and
// standard deviation 2 ms.
func (o *occ) send(at time.Duration, i int, s step) {
	delay := math.Abs(10 + 2*o.clients[i].net.Normal())
	o.push(message{at + time.Duration(delay*float64(time.Millisecond)), i, s})
}

func (o *occ) push(m message) {
	o.heap = append(o.heap, m)
	i := len(o.heap) - 1
	for i > 0 && o.heap[i].before(o.heap[(i-1)/2]) {
		o.heap[i], o.heap[(i-1)/2] = o.heap[(i-1)/2], o.heap[i]
		i = (i - 1) / 2
	}
}

func (o *occ) pop() message {
	top := o.heap[0]
	n := len(o.heap) - 1
	o.heap[0] = o.heap[n]
	o.heap = o.heap[:n]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < n; child++ {
			if o.heap[child].before(o.heap[least]) {
				least = child
			}
		}
		if least == i {
			return top
		}
		o.heap[i], o.heap[least] = o.heap[least], o.heap[i]
		i = least
	}
}

func (m message) before(other message) bool {
	return m.at < other.at || m.at == other.at && m.client < other.client
}
