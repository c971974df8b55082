package runtimes

import (
	"context"
	"embed"
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

// Names lists the supported runtimes that Lambda accepts for new functions, in the order of Lambda's messages.
var Names = []string{
	"nodejs18.x", "nodejs20.x", "nodejs22.x", "nodejs24.x", "provided.al2", "provided.al2023",
	"python3.8", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14",
}

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

	mu    sync.Mutex
	found map[string]interpreter // by runtime
}

// Open writes the runtime clients to dir, which it creates if needed.
func Open(dir string) (*Set, error) {
	if err := os.MkdirAll(dir, ownerfs.Dir); err != nil {
		return nil, err
	}
	for _, name := range []string{pythonClient, nodeClient} {
		text, err := clients.ReadFile("clients/" + name)
		if err != nil {
			return nil, err
		}
		// another process may be reading it
		if err := atomicfile.Write(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Set{dir: absolute, found: map[string]interpreter{}}, nil
}

// Known reports whether runtime is one of Names.
func Known(runtime string) bool { return slices.Contains(Names, runtime) }

// Launch returns how to start a function of the runtime with its code in the directory code. The error says what to
// install.
func (s *Set) Launch(ctx context.Context, runtime, code string) (Launch, error) {
	switch {
	case strings.HasPrefix(runtime, "provided"):
		return Launch{Command: []string{filepath.Join(code, "bootstrap")}, Interpreter: runtime}, nil
	case strings.HasPrefix(runtime, "python3."):
		return s.interpreted(ctx, runtime, python, pythonClient)
	case strings.HasPrefix(runtime, "nodejs"):
		return s.interpreted(ctx, runtime, node, nodeClient)
	}
	return Launch{}, fmt.Errorf("functions of the runtime %q do not run here; use one of %s", runtime,
		strings.Join(Names, ", "))
}

func (s *Set) interpreted(ctx context.Context, runtime string, l language, client string) (Launch, error) {
	i, err := s.interpreter(ctx, runtime, l)
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
	return Launch{
		Command:     append(slices.Clone(l.command(i.path)), filepath.Join(s.dir, client)),
		Interpreter: fmt.Sprintf("%s (%s %s at %s)", runtime, l.name, i.version, i.path),
		Env:         env,
	}, nil
}
