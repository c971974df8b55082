package events

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/local/services/documents"
	"stepback/local/services/eventpattern"
)

// archiveRecord is the stored form of an archive.
type archiveRecord struct {
	Account, Region, Name string
	Bus                   string // the name of the bus whose events it archives
	Description           string `json:",omitempty"`
	Pattern               string `json:",omitempty"`
	Days                  int64  `json:",omitempty"` // 0: events are kept without limit
	KmsKey                string `json:",omitempty"`
	Created               int64  // milliseconds since 1970
}

// archive is an archive that can receive events. A change replaces the whole value, except for its holdings.
type archive struct {
	archiveRecord
	pattern *eventpattern.Pattern // nil: all events
	holds   *holdings
}

// holdings is the number of events and bytes in an archive. They are counted when they are first needed.
type holdings struct {
	mu            sync.Mutex
	counted       bool
	early         map[string]int64 // bytes of the events that arrived before the count, by key
	events, bytes int64
	swept         time.Time // time of the last sweep of old events
}

// add counts an event that is about to be stored. The caller holds mu.
func (h *holdings) add(key string, bytes int64) {
	if h.counted {
		h.events, h.bytes = h.events+1, h.bytes+bytes
		return
	}
	if h.early == nil {
		h.early = map[string]int64{}
	}
	h.early[key] = bytes // whether the count finds it depends on which is first
}

// maxArchiveBytes is the maximum size of an archive. If it is exceeded, the oldest events are dropped.
const maxArchiveBytes = 1 << 30

func (a *archive) scope() aws.Scope { return aws.Scope{Account: a.Account, Region: a.Region} }
func (a *archive) arn() string      { return a.scope().ARN("events", "archive/"+a.Name) }
func (a *archive) key() string      { return "archive/" + a.Account + "/" + a.Region + "/" + a.Name }
func (a *archive) bus() busKey      { return busKey{a.scope(), a.Bus} }

// events returns the prefix of the keys of the archive's events, which are in a separate table.
func (a *archive) events() string { return a.Account + "/" + a.Region + "/" + a.Name + "/" }

// place returns the key of an event. Events sort by time, the order in which they are replayed.
func (a *archive) place(e *event) string { return a.from(e.at()) + "/" + e.id }

// from returns the first possible key of events at a time.
func (a *archive) from(at time.Time) string {
	return fmt.Sprintf("%s%015d", a.events(), max(0, at.UnixMilli()))
}

// at returns the time in the event. If that cannot be parsed, it returns the time of arrival.
func (e *event) at() time.Time {
	v, _ := e.value.Get("time")
	at, err := time.Parse(time.RFC3339Nano, v.Text())
	if err != nil {
		return e.ingested
	}
	return at
}

func newArchive(record archiveRecord) (*archive, error) {
	a := &archive{archiveRecord: record, holds: &holdings{}}
	if record.Pattern != "" {
		p, err := eventpattern.Compile(record.Pattern, eventpattern.Limits{})
		if err != nil {
			return nil, invalidPattern(err)
		}
		a.pattern = p
	}
	return a, nil
}

// keeps reports whether the archive keeps an event. Replayed events are not archived again.
func (a *archive) keeps(e *event) bool {
	return !e.replayed && (a.pattern == nil || a.pattern.Match(e.value))
}

// archived returns functions that add an event to those archives of its bus that keep it; nil if none does.
func (s *Service) archived(archives []*archive, e *event) []func(*documents.Batch) {
	var puts []func(*documents.Batch)
	for _, a := range archives {
		if !a.keeps(e) {
			continue
		}
		text := []byte(e.text())
		key := a.place(e)
		puts = append(puts, func(b *documents.Batch) { b.Put(s.archives, key, text) })
		a.holds.mu.Lock()
		a.holds.add(key, int64(len(text)))
		a.holds.mu.Unlock()
		s.sweepSometimes(a)
	}
	return puts
}

// sweepEvery is the interval between sweeps of old events while new ones arrive.
const sweepEvery = time.Hour

func (s *Service) sweepSometimes(a *archive) {
	now := s.now()
	a.holds.mu.Lock()
	due := now.Sub(a.holds.swept) >= sweepEvery || a.holds.bytes > maxArchiveBytes
	if due {
		a.holds.swept = now
	}
	a.holds.mu.Unlock()
	if !due {
		return
	}
	s.work.Go(func() {
		if err := s.sweep(a); err != nil && s.ctx.Err() == nil {
			s.o.Log.Warn("an archive was not swept", "archive", a.arn(), "error", err.Error())
		}
	})
}

// sweep deletes the events of an archive whose retention has ended, and the oldest events if the archive is too
// large. It counts the remaining ones.
func (s *Service) sweep(a *archive) error {
	a.holds.mu.Lock()
	defer a.holds.mu.Unlock()
	if !a.holds.counted {
		a.holds.events, a.holds.bytes = 0, 0
		if err := s.archives.Scan(a.events(), func(key string, text []byte) error {
			if _, early := a.holds.early[key]; !early {
				a.holds.events, a.holds.bytes = a.holds.events+1, a.holds.bytes+int64(len(text))
			}
			return s.ctx.Err()
		}); err != nil {
			return err
		}
		a.holds.counted = true
		for key, bytes := range a.holds.early {
			a.holds.add(key, bytes)
		}
		a.holds.early = nil
	}
	oldest := ""
	if a.Days > 0 {
		const day = 24 * time.Hour
		oldest = a.from(s.now().Add(-time.Duration(a.Days) * day))
	}
	const room = maxArchiveBytes / 10
	for {
		large := a.holds.bytes > maxArchiveBytes
		var keys []string
		freed, over := int64(0), false
		const most = 1000
		if err := s.archives.Scan(a.events(), func(key string, text []byte) error {
			enough := !large || a.holds.bytes-freed < maxArchiveBytes-room
			if over = len(keys) == most || key >= oldest && enough; over {
				return errEnough
			}
			keys, freed = append(keys, key), freed+int64(len(text))
			return s.ctx.Err()
		}); err != nil && !over {
			return err
		}
		if len(keys) == 0 {
			return nil
		}
		if large {
			s.o.Log.Warn("an archive is full: its oldest events are dropped", "archive", a.arn(), "events", len(keys))
		}
		if err := s.o.Store.Write(func(b *documents.Batch) error {
			for _, key := range keys {
				b.Delete(s.archives, key)
			}
			return nil
		}); err != nil {
			return err
		}
		a.holds.events, a.holds.bytes = a.holds.events-int64(len(keys)), a.holds.bytes-freed
	}
}

// updateArchives updates the archives of a bus. The caller holds mu.
func (s *Service) updateArchives(key busKey) {
	b := s.buses[key]
	if b == nil {
		return
	}
	var archives []*archive
	for _, a := range s.kept {
		if a.bus() == key {
			archives = append(archives, a)
		}
	}
	slices.SortFunc(archives, func(x, y *archive) int { return strings.Compare(x.Name, y.Name) })
	b.archives = archives
}

// findArchive returns an archive, or a not found error. The caller holds mu.
func (s *Service) findArchive(scope aws.Scope, name string) (*archive, error) {
	a := &archive{archiveRecord: archiveRecord{Account: scope.Account, Region: scope.Region, Name: name}}
	if found := s.kept[a.key()]; found != nil {
		return found, nil
	}
	return nil, notFound("Archive %s does not exist.", name)
}

// loadArchives loads the archives in the store.
func (s *Service) loadArchives() error {
	return s.table.Scan("archive/", func(_ string, text []byte) error {
		var record archiveRecord
		if err := json.Unmarshal(text, &record); err != nil {
			return err
		}
		a, err := newArchive(record)
		if err != nil {
			return err
		}
		s.kept[a.key()] = a
		if _, err := s.find(a.scope(), a.Bus); err != nil {
			return err
		}
		s.updateArchives(a.bus())
		return nil
	})
}
