package runner

import (
	"context"
	"net"
	"os/exec"
	"sync"
	"time"

	"stepback/internal/processgroup"
)

// defaultInitTimeout is Lambda's limit for the init phase.
const defaultInitTimeout = 10 * time.Second

// processRunner runs a function's bootstrap in separate processes.
type processRunner struct {
	function *deployed
	region   string
	logs     LogSink
	// initTimeout is Options.InitTimeout.
	initTimeout time.Duration
	capacity    *Capacity
}

func (r *processRunner) newEnvironment() environment {
	return &processEnvironment{runner: r, stream: r.function.stream()}
}

// processEnvironment is one bootstrap process with its Runtime API. The process starts with the first invocation.
type processEnvironment struct {
	runner  *processRunner
	stream  LogStream
	api     *runtimeAPI
	cmd     *exec.Cmd
	output  *output
	exited  chan struct{} // closed once the process has been reaped
	exitErr error         // set before exited is closed
	fresh   bool          // has not taken an invocation yet
	begun   time.Time
	reap    sync.WaitGroup
	entered bool // has entered Capacity
}

// run passes c to the process and waits for the response, the end of the process or the timeout, whichever comes
// first. The function's time starts when it has received the event.
func (e *processEnvironment) run(ctx context.Context, c *call) (answer, bool, error) {
	c.log.start(e.cmd == nil, e.stream)
	if e.cmd == nil {
		if err := e.runner.capacity.enter(ctx, c.closing, e.runner.function.MemoryMB); err != nil {
			return answer{}, false, err
		}
		e.entered = true
		if err := e.start(); err != nil {
			reason := explainStart(e.runner.function.Command[0], err)
			return failure("Runtime.InvalidEntrypoint", "RequestId: "+c.requestID+" Error: "+reason), false, nil
		}
	}
	e.output.lines.log(c.log)
	if c.log != nil {
		defer e.output.sync()
	}
	fresh := e.fresh
	if a, err := e.awaitReady(ctx, c); a != nil || err != nil {
		if a == nil {
			a = &answer{}
		}
		return *a, false, err
	}
	var init time.Duration
	if fresh {
		init = time.Since(e.begun)
	}
	c.log.started(init)
	return e.exchange(ctx, c)
}

// awaitReady waits until the process asks for an event. If the process never does, it returns an answer. If the
// init phase takes too long, Lambda starts the environment again as part of the invocation and within the
// function's timeout; here the same process gets that additional time.
func (e *processEnvironment) awaitReady(ctx context.Context, c *call) (*answer, error) {
	limit := time.NewTimer(e.runner.initTimeout)
	defer limit.Stop()
	waited := e.api.waited.total()
	late := false
	for {
		select {
		case <-e.api.ready:
			e.fresh = false
			return nil, nil
		case <-e.exited:
			if !e.fresh {
				return nil, errStale
			}
			a := e.endAnswer(c)
			return &a, nil
		case <-limit.C:
			if more := e.api.waited.total() - waited; more > 0 {
				waited += more
				limit.Reset(more)
				continue
			}
			if late {
				a := timedOut(c.requestID, c.timeout)
				return &a, nil
			}
			late = true
			c.log.initTimedOut(e.runner.initTimeout)
			limit.Reset(c.timeout)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closing:
			return nil, errClosed
		}
	}
}

const (
	// memoryInterval is the interval at which the memory of a process that handles an event is checked.
	memoryInterval = 100 * time.Millisecond
	// outOfMemory is Lambda's wording for a process that exceeded its function's MemorySize.
	outOfMemory = "signal: killed"
)

func (e *processEnvironment) exchange(ctx context.Context, c *call) (answer, bool, error) {
	event := newEvent(c)
	defer close(event.over)
	limit := time.NewTimer(time.Until(event.deadline))
	defer limit.Stop()
	look := time.NewTicker(memoryInterval)
	defer look.Stop()
	events := e.api.events
	before := e.api.waited.total()
	waited := before
	for {
		select {
		case <-look.C:
			if residentMemory(e.cmd.Process.Pid) > e.runner.function.MemoryMB {
				c.log.measured(peakMemory(e.cmd.Process.Pid))
				return exited(c.requestID, outOfMemory), false, nil
			}
		case events <- event:
			events = nil // sent; wait for the response
		case p := <-event.parts:
			event.taken <- p.write(c, e.runner.function.Version)
		case a := <-event.answers:
			// It stopped at its deadline; Lambda would have killed it.
			if late := event.deadline.Add(e.api.waited.total() - before); !time.Now().Before(late) {
				return timedOut(c.requestID, c.timeout), false, nil
			}
			c.log.measured(peakMemory(e.cmd.Process.Pid))
			return a, true, nil
		case <-e.exited:
			select {
			case a := <-event.answers: // responded, then ended
				return a, false, nil
			default:
				return e.endAnswer(c), false, nil
			}
		case <-limit.C:
			if more := e.api.waited.total() - waited; more > 0 {
				waited += more
				limit.Reset(more)
				continue
			}
			return timedOut(c.requestID, c.timeout), false, nil
		case <-ctx.Done():
			return answer{}, false, ctx.Err()
		case <-c.closing:
			return answer{}, false, errClosed
		}
	}
}

// deadlineAfter returns the deadline, rounded up to whole milliseconds, because the process receives it in
// milliseconds.
func deadlineAfter(timeout time.Duration) time.Time {
	return time.UnixMilli(time.Now().Add(timeout + time.Millisecond - 1).UnixMilli())
}

// endAnswer returns the service's error for a process that has ended.
func (e *processEnvironment) endAnswer(c *call) answer {
	if a := e.api.initFailure(); a != nil {
		return *a
	}
	how := ""
	if e.exitErr != nil {
		how = e.exitErr.Error()
	}
	return exited(c.requestID, how)
}

func (e *processEnvironment) start() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // listening on the loopback does not wait
	if err != nil {
		return err
	}
	f := e.runner.function
	e.api = serveRuntimeAPI(listener, f.Packages)
	//nolint:gosec,noctx // the owner's own functions, which outlive one call
	cmd := exec.Command(f.Command[0], f.Command[1:]...)
	cmd.Dir, cmd.Env = f.Dir, e.environ(listener.Addr().String())
	if e.output, err = openOutput(); err != nil {
		e.api.close()
		return err
	}
	cmd.Stdout, cmd.Stderr = e.output.w, e.output.w
	e.begun, e.fresh, e.exited = time.Now(), true, make(chan struct{})
	if err := processgroup.Start(cmd); err != nil {
		e.api.close()
		e.output.close()
		return err
	}
	e.cmd = cmd
	e.reap.Go(func() {
		e.exitErr = cmd.Wait()
		close(e.exited)
	})
	return nil
}

// close kills the process and its children and reaps it.
func (e *processEnvironment) close() {
	if e.entered {
		defer e.runner.capacity.leave(e.runner.function.MemoryMB)
	}
	if e.cmd == nil {
		return
	}
	processgroup.Kill(e.cmd)
	e.reap.Wait()
	e.output.close()
	e.api.close()
}
