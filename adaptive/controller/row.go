package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"stepback/adaptive/controller/decide"
	"stepback/internal/atomicfile"
	"stepback/internal/sealedjson"
)

// Row is the state kept for one state machine from tick to tick.
type Row struct {
	// Machine is the state machine's ARN.
	Machine string `json:"machine"`
	// Version counts how often the row was written; a write succeeds only if the stored version is the one that was
	// read.
	Version int64 `json:"version"`
	// Owner holds the lease until Until. Other controllers do nothing before then.
	Owner string    `json:"owner,omitempty"`
	Until time.Time `json:"until"`
	// Base is the deployed definition. Hash identifies the definition last accepted as valid: Base, or the
	// controller's own update.
	Base string `json:"base"`
	Hash string `json:"hash"`
	// States holds the decision memory of each state.
	States map[string]decide.Memory `json:"states,omitempty"`
	// Recoveries holds the outcomes of retries by state, measured at RecoveriesAt. Told is the hash of the
	// configuration published from them.
	Recoveries   map[string][]decide.Recovery `json:"recoveries,omitempty"`
	RecoveriesAt time.Time                    `json:"recoveriesAt,omitzero"`
	Told         string                       `json:"told,omitempty"`
	// MapRuns holds each Map Run's initial concurrency, by ARN.
	MapRuns map[string]int `json:"mapRuns,omitempty"`
	// History is the audit record, oldest first; the last 200 entries.
	History []Entry `json:"history,omitempty"`
}

// historyLength limits the entries of a row's history.
const historyLength = 200

// Entry is one line of the audit record. A change has two entries: Begun before it is applied, and Applied or
// Failed after that. A dry run has Proposed and Withdrawn entries.
type Entry struct {
	At    time.Time `json:"at"`
	State string    `json:"state,omitempty"`
	What  What      `json:"what"`
	Text  string    `json:"text"`
	// Before and After are hashes of the definition, or the concurrency of a Map Run; of a proposal, its settings.
	Before string          `json:"before,omitempty"`
	After  string          `json:"after,omitempty"`
	Why    []decide.Reason `json:"why,omitempty"`
}

// What is the kind of an [Entry].
type What string

// The kinds of entries.
const (
	Begun   What = "begun"
	Applied What = "applied"
	Failed  What = "failed"
	Adopted What = "adopted" // a definition was taken as the base
	HandOff What = "hands-off"
	Told    What = "told" // the functions received the value of retries
	// A dry run proposed a change, or its last proposal no longer holds.
	Proposed  What = "proposed"
	Withdrawn What = "withdrawn"
)

func (r *Row) add(e Entry) {
	r.History = append(r.History, e)
	r.History = r.History[max(len(r.History)-historyLength, 0):]
}

// ErrConflict is returned if another process wrote the row after it was read.
var ErrConflict = errors.New("another controller wrote the row in the meantime")

// Rows stores rows.
type Rows interface {
	// Load returns a machine's row, or an empty one with only Machine set.
	Load(ctx context.Context, machine string) (Row, error)
	// Save writes a row and increments its Version, if the stored row still has the same Version; otherwise it
	// returns ErrConflict.
	Save(ctx context.Context, r Row) (Row, error)
}

// MemoryRows implements Rows in memory. The zero value is empty and ready.
type MemoryRows struct {
	mu   sync.Mutex
	rows map[string][]byte
}

// Load implements [Rows].
func (m *MemoryRows) Load(_ context.Context, machine string) (Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return decoded(machine, m.rows[machine])
}

// Save implements [Rows].
func (m *MemoryRows) Save(_ context.Context, r Row) (Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, err := decoded(r.Machine, m.rows[r.Machine])
	if err != nil {
		return r, err
	}
	if kept.Version != r.Version {
		return r, ErrConflict
	}
	r.Version++
	text, err := json.Marshal(r)
	if err != nil {
		return r, err
	}
	if m.rows == nil {
		m.rows = map[string][]byte{}
	}
	m.rows[r.Machine] = text
	return r, nil
}

func decoded(machine string, text []byte) (Row, error) {
	r := Row{Machine: machine}
	if text == nil {
		return r, nil
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("the row of %s cannot be read: %w; delete it to start over", machine, err)
	}
	r.Machine = machine
	return r, nil
}

// filePattern matches the names of FileRows' files.
const filePattern = "adapt-*.json"

// FileRows implements Rows in files of a directory, for one controller on a laptop; the directory is created when
// needed.
type FileRows struct {
	Directory string

	mu sync.Mutex
}

func (f *FileRows) path(machine string) string {
	return filepath.Join(f.Directory, strings.Replace(filePattern, "*", Hash(machine), 1))
}

// Load implements [Rows]. The error is a *sealedjson.DamagedError if the file differs from what was written.
func (f *FileRows) Load(_ context.Context, machine string) (Row, error) {
	r, err := readRow(f.path(machine))
	if errors.Is(err, os.ErrNotExist) {
		return Row{Machine: machine}, nil
	}
	if err != nil {
		return Row{}, fmt.Errorf("the row of %s: %w; or delete the file to start over with the deployed definition", machine, err)
	}
	r.Machine = machine
	return r, nil
}

func readRow(path string) (r Row, err error) {
	err = sealedjson.ReadFile(path, &r)
	return r, err
}

// Check reads all files of the directory, and calls problem for each that differs from what was written.
func (f *FileRows) Check(problem func(error)) error {
	paths, err := filepath.Glob(filepath.Join(f.Directory, filePattern))
	for _, path := range paths {
		if _, err := readRow(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			problem(err)
		}
	}
	return err
}

// Save implements [Rows]. It replaces the file atomically.
func (f *FileRows) Save(ctx context.Context, r Row) (Row, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept, err := f.Load(ctx, r.Machine)
	if err != nil {
		return r, err
	}
	if kept.Version != r.Version {
		return r, ErrConflict
	}
	next := r
	next.Version++
	text, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return r, err
	}
	if err := os.MkdirAll(f.Directory, 0o700); err != nil {
		return r, err
	}
	return next, atomicfile.Write(f.path(r.Machine), sealedjson.Seal(text, uint64(next.Version)), 0o600)
}
