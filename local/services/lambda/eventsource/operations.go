package eventsource

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// Create creates a mapping. The error is an *aws.Error, or an error of the disk.
func (s *Service) Create(ctx context.Context, scope aws.Scope, in *CreateInput) (*Configuration, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	m := &Mapping{UUID: aws.NewID(), Scope: scope, EventSourceArn: in.EventSourceArn, Enabled: true, Tags: in.Tags}
	source, err := s.source(m, in)
	if err != nil {
		return nil, err
	}
	if err := s.apply(m, source, &in.Settings); err != nil {
		return nil, err
	}
	if err := s.duplicate(m); err != nil {
		return nil, err
	}
	if err := s.mayRead(ctx, m); err != nil {
		return nil, errUnreadable(m)
	}
	m.LastModified = s.o.Clock.Now()
	if err := s.keep(m, source.place); err != nil {
		return nil, err
	}
	made := &mapped{Mapping: m}
	s.mu.Lock()
	s.of[m.UUID] = made
	s.begin(made, nil)
	s.mu.Unlock()
	return m.shown(creating, nothingYet), nil
}

// duplicate returns an error if the same mapping already exists.
func (s *Service) duplicate(m *Mapping) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.of {
		if other.UUID != m.UUID && other.EventSourceArn == m.EventSourceArn && other.FunctionArn == m.FunctionArn {
			return errDuplicate(m, other.UUID)
		}
	}
	return nil
}

// find returns a mapping of a scope. mu is held.
func (s *Service) find(scope aws.Scope, uuid string) (*mapped, error) {
	m := s.of[uuid]
	if m == nil || m.Scope != scope {
		return nil, errNoMapping
	}
	return m, nil
}

// Get returns a mapping.
func (s *Service) Get(scope aws.Scope, uuid string) (*Configuration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.find(scope, uuid)
	if err != nil {
		return nil, err
	}
	return m.shown(m.state(), m.lastResult()), nil
}

// lastResult returns the result of the last batch.
func (m *mapped) lastResult() string {
	if m.poller == nil {
		return nothingYet
	}
	return m.poller.lastResult()
}

// List returns the mappings of a scope, ordered by UUID. If function or source is not empty, only the mappings of
// that function or source are returned.
func (s *Service) List(scope aws.Scope, function, source string) ([]*Configuration, error) {
	arn := ""
	if function != "" {
		n, err := invocation.ParseName(function, "")
		if err != nil {
			return nil, err
		}
		of := aws.Scope{Account: cmp.Or(n.Account, scope.Account), Region: cmp.Or(n.Region, scope.Region)}
		arn = of.ARN("lambda", "function:"+n.Function)
		if n.Qualifier != "" {
			arn += ":" + n.Qualifier
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Configuration
	for _, id := range slices.Sorted(maps.Keys(s.of)) {
		m := s.of[id]
		if m.Scope == scope && (arn == "" || m.FunctionArn == arn) && (source == "" || m.EventSourceArn == source) {
			list = append(list, m.shown(m.state(), m.lastResult()))
		}
	}
	return list, nil
}

// Update changes a mapping. A running batch ends with the old settings. The error is an *aws.Error, or an error of
// the disk.
func (s *Service) Update(_ context.Context, scope aws.Scope, in *UpdateInput) (*Configuration, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	s.mu.Lock()
	old, err := s.find(scope, in.UUID)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	m := new(*old.Mapping)
	source, err := s.sourceOf(m)
	if err != nil && (in.Enabled == nil || *in.Enabled) { // a mapping whose source no longer exists can be disabled
		return nil, err
	}
	if err := s.apply(m, source, &in.Settings); err != nil {
		return nil, err
	}
	if err := s.duplicate(m); err != nil {
		return nil, err
	}
	m.LastModified = s.o.Clock.Now()
	if err := s.keep(m, nil); err != nil {
		return nil, err
	}
	changed := &mapped{Mapping: m}
	s.mu.Lock()
	s.of[m.UUID] = changed
	before := old.poller
	if before != nil {
		before.end()
	}
	s.begin(changed, before)
	s.mu.Unlock()
	return m.shown(updating, nothingYet), nil
}

// Delete deletes a mapping. A running batch ends normally. The error is an *aws.Error, or an error of the disk.
func (s *Service) Delete(_ context.Context, scope aws.Scope, uuid string) (*Configuration, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	s.mu.Lock()
	m, err := s.find(scope, uuid)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	b, err := s.o.Store.Begin()
	if err != nil {
		return nil, err
	}
	b.Delete(s.table, uuid)
	b.Delete(s.checkpoints, uuid)
	if err := b.Apply()(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	delete(s.of, uuid)
	if m.poller != nil {
		m.poller.end()
	}
	s.mu.Unlock()
	return m.shown(deleting, m.lastResult()), nil
}

// Tags returns the tags of a mapping. If edit is not nil, it changes them first.
func (s *Service) Tags(scope aws.Scope, uuid string, edit func(map[string]string)) (map[string]string, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	s.mu.Lock()
	m, err := s.find(scope, uuid)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	tags := maps.Clone(m.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	if edit == nil {
		return tags, nil
	}
	edit(tags)
	changed := new(*m.Mapping)
	changed.Tags = tags
	if err := s.keep(changed, nil); err != nil {
		return nil, err
	}
	s.mu.Lock()
	m.Mapping = changed
	s.mu.Unlock()
	return tags, nil
}
