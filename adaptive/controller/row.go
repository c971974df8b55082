package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"stepback/adaptive/controller/decide"
)

// Row is what is kept of one state machine from tick to tick.
type Row struct {
	// Machine is the state machine's ARN.
	Machine string `json:"machine"`
	// Version counts how often the row was written; a row is written only on top of the version that was read.
	Version int64 `json:"version"`
	// Owner holds the lease until Until; another controller does nothing before.
	Owner string    `json:"owner,omitempty"`
	Until time.Time `json:"until"`
	// Base is the definition as it was deployed. Hash is that of the definition which the controller last saw in
	// order: the base, or what it wrote itself.
	Base string `json:"base"`
	Hash string `json:"hash"`
	// States are the memories of the decisions, by state.
	States map[string]decide.Memory `json:"states,omitempty"`
	// Recoveries are what retries came to, by state, as it was measured at RecoveriesAt; Told is the hash of what the
	// functions were told of it.
	Recoveries   map[string][]decide.Recovery `json:"recoveries,omitempty"`
	RecoveriesAt time.Time                    `json:"recoveriesAt,omitzero"`
	Told         string                       `json:"told,omitempty"`
	// MapRuns are the concurrencies that Map Runs began with, by ARN.
	MapRuns map[string]int `json:"mapRuns,omitempty"`
	// History is the audit record, oldest first; the last 200 entries.
	History []Entry `json:"history,omitempty"`
}

// historyLength bounds a row's history.
const historyLength = 200

// Entry is one line of the audit record. A change has two: one Begun before it is applied, and one after it, which is
// Applied or Failed.
type Entry struct {
	At     time.Time       `json:"at"`
	State  string          `json:"state,omitempty"`
	What   What            `json:"what"`
	Text   string          `json:"text"`
	Before string          `json:"before,omitempty"` // hash of the definition, or the concurrency
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
	Told    What = "told" // the functions were told what retries are worth
)

func (r *Row) add(e Entry) {
	r.History = append(r.History, e)
	r.History = r.History[max(len(r.History)-historyLength, 0):]
}

// ErrConflict is a row that was written by another process in between.
var ErrConflict = errors.New("another controller wrote the row in between")

// Rows keeps rows.
type Rows interface {
	// Load returns a machine's row, or one with nothing but the machine.
	Load(ctx context.Context, machine string) (Row, error)
	// Save writes a row with its Version one higher, if the kept one still has the row's Version; else ErrConflict.
	Save(ctx context.Context, r Row) (Row, error)
}

// MemoryRows are Rows in memory. The zero value is empty and ready.
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
		return r, fmt.Errorf("the row of %s cannot be read: %w; delete it to begin anew", machine, err)
	}
	r.Machine = machine
	return r, nil
}

// FileRows are Rows in files of a directory, for one controller on a laptop; the directory is made when it is needed.
type FileRows struct {
	Directory string

	mu sync.Mutex
}

func (f *FileRows) path(machine string) string {
	return filepath.Join(f.Directory, "adapt-"+Hash(machine)+".json")
}

// Load implements [Rows].
func (f *FileRows) Load(_ context.Context, machine string) (Row, error) {
	text, err := os.ReadFile(f.path(machine))
	if errors.Is(err, os.ErrNotExist) {
		return Row{Machine: machine}, nil
	}
	if err != nil {
		return Row{}, err
	}
	return decoded(machine, text)
}

// Save implements [Rows]. The file is replaced in one step.
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
	if err := os.MkdirAll(f.Directory, 0o755); err != nil {
		return r, err
	}
	temporary := f.path(r.Machine) + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return r, err
	}
	return next, os.Rename(temporary, f.path(r.Machine))
}
