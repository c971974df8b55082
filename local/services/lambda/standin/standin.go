package standin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// Set holds the functions that have a stand-in. It is safe for concurrent use.
type Set struct {
	named      map[string]invocation.Invoker
	bootstraps *runner.Service
	env        map[string]string
	output     io.Writer
	unpacked   []string // directories to remove

	mu      sync.Mutex
	missing []string // functions that were called but have no implementation, in order of their first call
}

// Open parses stand-ins of the form NAME=COMMAND, NAME=URL or NAME=BOOTSTRAP. env is added to the environment of
// their programs; their logs go to output.
func Open(ctx context.Context, given []string, env map[string]string, output io.Writer) (*Set, error) {
	output = &oneAtATime{w: output}
	s := &Set{
		named: map[string]invocation.Invoker{}, env: env, output: output,
		bootstraps: runner.New(runner.Options{Logs: printedLogs{output}}),
	}
	for _, one := range given {
		name, target, ok := strings.Cut(one, "=")
		err := errors.New("give NAME=COMMAND, NAME=URL or NAME=BOOTSTRAP")
		if ok && name != "" && strings.TrimSpace(target) != "" {
			err = s.add(name, target)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", one, err), s.Close(context.WithoutCancel(ctx)))
		}
	}
	return s, nil
}

// Over returns an invoker that invokes the functions of the set and passes all others to next.
func (s *Set) Over(next invocation.Invoker) invocation.Invoker { return over{s, next} }

type over struct {
	*Set
	next invocation.Invoker
}

// Invoke implements invocation.Invoker.
func (o over) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	name := BareName(r.FunctionName)
	if in, ok := o.named[name]; ok {
		own := *r
		own.FunctionName, own.Qualifier = name, "" // a stand-in has a single version, the same in every account
		return in.Invoke(ctx, &own)
	}
	a, err := o.next.Invoke(ctx, r)
	var refused *aws.Error
	if errors.As(err, &refused) && refused.Code == "ResourceNotFoundException" {
		o.miss(name)
	}
	return a, err
}

func (s *Set) miss(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.missing, name) {
		s.missing = append(s.missing, name)
	}
}

// Missing returns the functions that were called but have no implementation, in order of their first call.
func (s *Set) Missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.missing)
}

// Names returns the names of the functions in the set, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.named)) }

// Close stops the functions' processes, waiting until ctx ends, and removes what was unpacked.
func (s *Set) Close(ctx context.Context) error {
	err := s.bootstraps.Close(ctx)
	for _, dir := range s.unpacked {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// BareName returns the name of a function given by its name, its ARN or part of the ARN, with or without a qualifier.
func BareName(called string) string {
	parts := strings.Split(called, ":")
	for i, part := range parts[:len(parts)-1] {
		if part == "function" {
			return parts[i+1]
		}
	}
	return parts[0]
}

// oneAtATime serializes the writes of several functions.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (o *oneAtATime) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(b)
}

// printedLogs writes functions' logs to w.
type printedLogs struct{ w io.Writer }

// WriteLog implements runner.LogSink.
func (p printedLogs) WriteLog(_ runner.LogStream, lines []byte) { _, _ = p.w.Write(lines) }
