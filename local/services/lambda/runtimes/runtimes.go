package runtimes

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"stepback/internal/atomicfile"
	"stepback/internal/ownerfs"
)

//go:embed clients
var clients embed.FS

// The runtime clients of the two kinds of interpreters.
const (
	pythonClient = "python.py"
	nodeClient   = "node.mjs"
)

// names lists the supported runtimes that Lambda accepts for new functions, in the order of Lambda's messages.
var names = []string{
	"nodejs18.x", "nodejs20.x", "nodejs22.x", "nodejs24.x", "provided.al2", "provided.al2023",
	"python3.8", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14",
}

// ended lists the runtimes that Lambda no longer accepts for new functions. Public samples still name them; their
// functions run with the interpreter of this machine.
var ended = []string{"nodejs12.x", "nodejs14.x", "nodejs16.x", "python3.6", "python3.7"}

// Ended reports whether Lambda no longer accepts a runtime for new functions, although functions of it run here.
func Ended(runtime string) bool { return slices.Contains(ended, runtime) }

// Launch describes how to start a function.
type Launch struct {
	Command []string
	// Interpreter describes the program that runs the function, for the function's log.
	Interpreter string
	// Env holds the variables that the runtime adds to the environment.
	Env map[string]string
}

// Set determines how to start functions with the interpreters of this machine. It is safe for concurrent use.
type Set struct {
	dir string

	mu      sync.Mutex
	found   map[string]interpreter // by runtime
	written map[string]bool        // runtime clients
}

// Open returns a Set that writes the runtime clients to dir, which it creates, when a function first needs one.
func Open(dir string) (*Set, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Set{dir: absolute, found: map[string]interpreter{}, written: map[string]bool{}}, nil
}

// client returns the path of a runtime client, which it writes if this Set has not.
func (s *Set) client(name string) (string, error) {
	path := filepath.Join(s.dir, name)
	s.mu.Lock()
	written := s.written[name]
	s.mu.Unlock()
	if written {
		return path, nil
	}
	text, err := clients.ReadFile("clients/" + name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.dir, ownerfs.Dir); err != nil {
		return "", err
	}
	if err := atomicfile.Write(path, text, 0o600); err != nil { // another process may be reading it
		return "", err
	}
	s.mu.Lock()
	s.written[name] = true
	s.mu.Unlock()
	return path, nil
}

// Known reports whether functions of a runtime run here: it is one of names, or has ended.
func Known(runtime string) bool { return slices.Contains(names, runtime) || Ended(runtime) }

// Refusal says what to do about a runtime that is not known.
func Refusal(runtime string) string {
	return fmt.Sprintf("Functions of the runtime %s do not run in stepback serve, which runs programs for Amazon Linux, and "+
		"functions for the Node.js and Python of this machine: use one of %s. A program in another language runs as a "+
		"provided runtime, with its own bootstrap.", runtime, strings.Join(names, ", "))
}

// Launch returns how to start a function of the runtime with its code in the directory code. memoryMB is the function's
// memory, to which the heap of Node.js is limited; 0 means no limit. The error says what to install.
func (s *Set) Launch(ctx context.Context, runtime, code string, memoryMB int) (Launch, error) {
	switch {
	case strings.HasPrefix(runtime, "provided"):
		return Launch{Command: []string{filepath.Join(code, "bootstrap")}, Interpreter: runtime}, nil
	case strings.HasPrefix(runtime, "python3."):
		return s.interpreted(ctx, runtime, python, pythonClient, memoryMB)
	case strings.HasPrefix(runtime, "nodejs"):
		return s.interpreted(ctx, runtime, node, nodeClient, memoryMB)
	}
	return Launch{}, errors.New(Refusal(runtime))
}

func (s *Set) interpreted(
	ctx context.Context, runtime string, l language, client string, memoryMB int,
) (Launch, error) {
	i, err := s.interpreter(ctx, runtime, l)
	if err != nil {
		return Launch{}, err
	}
	program, err := s.client(client)
	if err != nil {
		return Launch{}, err
	}
	env := maps.Clone(l.env)
	for _, name := range l.inherits {
		if value := os.Getenv(name); value != "" {
			if env == nil {
				env = map[string]string{}
			}
			env[name] = value
		}
	}
	note := ""
	if Ended(runtime) {
		note = ", which AWS has ended"
	}
	return Launch{
		Command:     append(slices.Clone(l.command(i.path, memoryMB)), program),
		Interpreter: fmt.Sprintf("%s%s (%s %s at %s)", runtime, note, l.name, i.version, i.path),
		Env:         env,
	}, nil
}
