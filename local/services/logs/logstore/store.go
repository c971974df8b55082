package logstore

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/journal/diskspace"
	"stepback/local/services/inventory"
)

// Options are the limits and hooks of a store; zero values have defaults.
type Options struct {
	// StreamBytes is the maximum size of a stream's events; default 16 MiB.
	StreamBytes int64
	// GroupBytes is the maximum size of a group's events; default 64 MiB.
	GroupBytes int64
	// Appended, if not nil, is called with the events that are appended to a group. It must return quickly. g.Bytes
	// is not set.
	Appended func(scope aws.Scope, g Group, events []Event)
	// Written, if not nil, is called with the events of a stream that have been written, if their group has
	// subscriptions. The events have their Stream and Number set, and the callee may keep them. It must return
	// quickly, because it blocks writing.
	Written func(scope aws.Scope, g Group, events []Event)
	// Files is the inventory that the store's files are in; nil means none.
	Files *inventory.Files
	// Space is the free space of the disk: writes that find none wait for it. If it is nil, they fail, and events are
	// lost.
	Space *diskspace.Space
	// Now returns the current time; default time.Now.
	Now func() time.Time
	Log *slog.Logger
}

const (
	defaultStreamBytes = 16 << 20
	defaultGroupBytes  = 64 << 20
	// segments is the number of files of a full stream.
	segments = 4
)

// Store is a directory of log groups. It is safe for concurrent use.
type Store struct {
	dir  string
	opts Options
	now  func() time.Time
	log  *slog.Logger

	changes sync.Mutex // serializes changes of groups

	mu      sync.Mutex
	groups  map[groupKey]*group
	dropped map[dropped]*lost // not yet reported
	follows map[*following]struct{}
	ending  chan struct{} // closed by StopFollowing
	queue   queue
	idle    *sync.Cond // signals that the queue has become shorter
	done    chan struct{}
}

// Open opens the store in a directory, which it creates if needed. Close must be called when done. The description of a
// group that is damaged or missing is an error; damaged events are logged, and reading them is an error.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{dir: dir, opts: o, now: o.Now, log: o.Log, groups: map[groupKey]*group{}, done: make(chan struct{}),
		follows: map[*following]struct{}{}, ending: make(chan struct{})}
	if s.opts.StreamBytes == 0 {
		s.opts.StreamBytes = defaultStreamBytes
	}
	if s.opts.GroupBytes == 0 {
		s.opts.GroupBytes = defaultGroupBytes
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	s.idle = sync.NewCond(&s.mu)
	s.queue.signal = make(chan struct{}, 1)
	go s.flush()
	return s, nil
}

// Close writes what was appended and closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.queue.closed
	s.queue.closed = true
	s.mu.Unlock()
	if !closed {
		close(s.queue.signal)
	}
	<-s.done
	return nil
}

// load reads the existing groups, streams and segments.
func (s *Store) load() error {
	found, err := filepath.Glob(filepath.Join(s.dir, "*", "*", "*", aboutFile))
	if err != nil {
		return err
	}
	known, err := s.opts.Files.Below(s.dir)
	if err != nil {
		return err
	}
	for _, path := range known {
		switch missing := s.missing(path); {
		case missing != nil && filepath.Base(path) == aboutFile:
			return missing
		case missing != nil:
			s.log.Warn("log events are lost", "error", missing)
		}
	}
	for _, path := range found {
		dir := filepath.Dir(path)
		region := filepath.Dir(dir)
		scope := aws.Scope{Account: filepath.Base(filepath.Dir(region)), Region: filepath.Base(region)}
		g := &group{scope: scope, dir: dir, streams: map[string]*stream{}}
		text, err := s.opts.Files.ReadFile(path)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &g.kept); err != nil {
			return &inventory.DamagedError{Path: path, Why: err.Error()}
		}
		if !g.Deleted {
			if err := g.load(s.opts.Files, s.log); err != nil {
				return err
			}
		}
		s.groups[groupKey{scope, g.Name}] = g
	}
	return nil
}

// missing returns an error if a file of the inventory does not exist.
func (s *Store) missing(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return &inventory.DamagedError{Path: path, Why: "it is missing"}
	}
	return nil
}

// load reads the segments in the directory of a group.
func (g *group) load(files *inventory.Files, log *slog.Logger) error {
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		stem, ok := strings.CutSuffix(entry.Name(), segmentSuffix)
		number, err := strconv.Atoi(stem[strings.LastIndexByte(stem, '.')+1:])
		if !ok || err != nil {
			continue
		}
		seg := &segment{path: filepath.Join(g.dir, entry.Name()), number: number}
		if err := g.add(seg, files, log); err != nil {
			log.Warn("a file of log events cannot be read; it is left alone", "file", seg.path, "error", err)
		}
	}
	for _, st := range g.streams {
		slices.SortFunc(st.segments, func(a, b *segment) int { return a.number - b.number })
		last := st.segments[len(st.segments)-1]
		st.loaded = eventNumber(last.number, last.events)
	}
	return nil
}

// add reads a segment and adds it to its stream.
func (g *group) add(seg *segment, files *inventory.Files, log *slog.Logger) error {
	e, known, err := files.Entry(seg.path) // before the file, which may only be longer
	if err != nil {
		return err
	}
	text, err := os.ReadFile(seg.path)
	if err != nil {
		return err
	}
	var first, last, ingestion int64
	h, err := scan(seg.path, text, func(_ int64, e Event) {
		seg.events++
		if first == 0 {
			first = e.Time
		}
		first, last, ingestion = min(first, e.Time), max(last, e.Time), max(ingestion, e.Ingestion)
	})
	if known {
		seg.damaged = inventory.VerifyGrown(seg.path, text, e)
	}
	if err != nil {
		return errors.Join(seg.damaged, err)
	}
	seg.bytes, seg.first, seg.last, seg.sum = int64(len(text)), first, last, inventory.Sum(0, text)
	switch now := (inventory.Entry{Length: seg.bytes, Sum: seg.sum}); {
	case seg.damaged != nil:
		log.Warn("log events are damaged; reading them will fail", "error", seg.damaged)
		seg.first, seg.last = math.MinInt64, math.MaxInt64 // they may be of any time
	case now != e:
		files.Note(seg.path, now)
	}
	st := g.streams[h.Stream]
	if st == nil {
		st = newStream(g, h.Stream, h.Created)
		st.torn = true
		g.streams[h.Stream] = st
	}
	if first != 0 {
		st.include(first, last, ingestion)
	}
	st.segments = append(st.segments, seg)
	return nil
}
