package logstore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// The errors of the store.
var (
	ErrNoGroup  = errors.New("logs: there is no such log group")
	ErrNoStream = errors.New("logs: there is no such log stream")
	ErrExists   = errors.New("logs: it exists already")
)

// Group describes a log group.
type Group struct {
	Name string `json:"name"`
	// Created is in milliseconds since 1970.
	Created int64 `json:"created"`
	// RetentionDays is the number of days for which events are kept; 0 means forever.
	RetentionDays int               `json:"retentionDays,omitempty"`
	KMSKeyID      string            `json:"kmsKeyId,omitempty"`
	Class         string            `json:"class,omitempty"`
	Protected     bool              `json:"protected,omitempty"` // from deletion
	Tags          map[string]string `json:"tags,omitempty"`
	// Subscriptions and MetricFilters are the group's filters in order of creation. To change them, replace the
	// slices: the old ones are shared.
	Subscriptions []Subscription `json:"subscriptions,omitempty"`
	MetricFilters []MetricFilter `json:"metricFilters,omitempty"`
	// Bytes is the total size of the group's events.
	Bytes int64 `json:"-"`
}

// kept is the stored description of a group. It is kept after the group's deletion, to distinguish a deleted group
// from one that never existed.
type kept struct {
	Group
	Deleted bool `json:"deleted,omitempty"`
}

// group is a log group with its streams.
type group struct {
	kept
	scope   aws.Scope
	dir     string
	streams map[string]*stream
}

type groupKey struct {
	aws.Scope
	name string
}

const aboutFile = "group.json"

func (s *Store) groupDir(k groupKey) string {
	return filepath.Join(s.dir, k.Account, k.Region, nameHash(k.name))
}

// nameHash returns a hash that replaces a name in paths, because names may be too long for file names.
func nameHash(name string) string {
	sum := sha256.Sum256([]byte(name))
	const enough = 16
	return hex.EncodeToString(sum[:enough])
}

// CreateGroup creates a log group, or returns ErrExists.
func (s *Store) CreateGroup(scope aws.Scope, g Group) error {
	return s.change(scope, g.Name, func(old *group) error {
		if old.Created != 0 && !old.Deleted {
			return ErrExists
		}
		g.Created, g.Tags = s.now().UnixMilli(), maps.Clone(g.Tags)
		old.kept = kept{Group: g}
		return nil
	})
}

// UpdateGroup changes a log group, or returns ErrNoGroup.
func (s *Store) UpdateGroup(scope aws.Scope, name string, update func(*Group)) error {
	return s.change(scope, name, func(g *group) error {
		if g.Created == 0 || g.Deleted {
			return ErrNoGroup
		}
		g.Tags = maps.Clone(g.Tags)
		update(&g.Group)
		return nil
	})
}

// DeleteGroup deletes a log group with its streams, or returns ErrNoGroup.
func (s *Store) DeleteGroup(scope aws.Scope, name string) error {
	err := s.change(scope, name, func(g *group) error {
		if g.Created == 0 || g.Deleted {
			return ErrNoGroup
		}
		g.Deleted = true
		return nil
	})
	if err != nil {
		return err
	}
	_ = s.settle() // afterwards none of its files is written any more; a closing store writes none either
	s.mu.Lock()
	var gone []string
	g := s.groups[groupKey{scope, name}]
	for _, st := range g.streams {
		gone = append(gone, st.paths()...)
	}
	g.streams = map[string]*stream{}
	s.mu.Unlock()
	return s.opts.Files.Remove(gone...)
}

// change applies f to a group and saves the result before it takes effect. Changes of groups are rare and run one at
// a time.
func (s *Store) change(scope aws.Scope, name string, f func(*group) error) error {
	s.changes.Lock()
	defer s.changes.Unlock()
	k := groupKey{scope, name}
	s.mu.Lock()
	changed := group{scope: scope, dir: s.groupDir(k), streams: map[string]*stream{}}
	if g := s.groups[k]; g != nil {
		changed = *g
	}
	s.mu.Unlock()
	if err := f(&changed); err != nil {
		return err
	}
	if err := changed.save(s.opts.Files); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.groups[k]; g != nil {
		g.kept = changed.kept
		return nil
	}
	s.groups[k] = &changed
	return nil
}

func (g *group) save(files *inventory.Files) error {
	text, err := json.Marshal(g.kept)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.dir, ownerfs.Dir); err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(g.dir, aboutFile), text, 0o600)
}

// Group returns a log group, or ErrNoGroup. With ErrNoGroup, deleted reports whether a group of that name has been
// deleted.
func (s *Store) Group(scope aws.Scope, name string) (about Group, deleted bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[groupKey{scope, name}]
	if g == nil || g.Deleted {
		return Group{}, g != nil, ErrNoGroup
	}
	return g.describe(), false, nil
}

// Groups returns the log groups whose names selects accepts, ordered by name.
func (s *Store) Groups(scope aws.Scope, selects func(name string) bool) []Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Group
	for k, g := range s.groups {
		if k.Scope == scope && !g.Deleted && selects(k.name) {
			found = append(found, g.describe())
		}
	}
	slices.SortFunc(found, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	return found
}

func (g *group) describe() Group {
	about := g.Group
	about.Tags = maps.Clone(g.Tags)
	about.Bytes = g.bytes()
	return about
}

func (g *group) bytes() (sum int64) {
	for _, st := range g.streams {
		sum += st.bytes()
	}
	return sum
}

// oldest returns the start of the group's retention: earlier events are removed.
func (g *Group) oldest(now time.Time) int64 {
	if g.RetentionDays == 0 {
		return 0
	}
	return now.AddDate(0, 0, -g.RetentionDays).UnixMilli()
}
