package mock

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"stepback/engine"
)

// File is a mock configuration that is reloaded when its file changes. It is safe for concurrent use.
type File struct {
	path string

	mu     sync.Mutex
	config *Config
	size   int64
	stamp  time.Time
}

// Open loads a configuration file. Errors name the file and what is wrong with it.
func Open(path string) (*File, error) {
	f := &File{path: path}
	_, err := f.load()
	return f, err
}

// Execution returns an interceptor that answers the tasks of one execution, according to the file's current content.
func (f *File) Execution(machine, testCase string) (engine.Interceptor, error) {
	c, err := f.load()
	if err != nil {
		return nil, err
	}
	return c.Execution(machine, testCase)
}

// Cases returns the names of a state machine's test cases, according to the file's current content. If the state
// machine is missing, the error lists the ones that the file contains.
func (f *File) Cases(machine string) ([]string, error) {
	c, err := f.load()
	if err != nil {
		return nil, err
	}
	if _, ok := c.machines[machine]; !ok {
		return nil, c.noMachine(machine)
	}
	return c.TestCases(machine), nil
}

func (f *File) load() (*Config, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, f.unreadable(err)
	}
	if f.config != nil && info.Size() == f.size && info.ModTime().Equal(f.stamp) {
		return f.config, nil
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, f.unreadable(err)
	}
	c, err := Parse(bytes.TrimPrefix(text, []byte("\ufeff"))) // programs of Windows write it; JSON has none
	if err != nil {
		return nil, fmt.Errorf("mock configuration %s: %w", f.path, err)
	}
	f.config, f.size, f.stamp = c, info.Size(), info.ModTime()
	return c, nil
}

// unreadable returns the error for a file that cannot be read, without the name of the failed system call.
func (f *File) unreadable(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	return fmt.Errorf("mock configuration %s: %w", f.path, err)
}
