package events

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
)

// defaultBus is the name of the bus that every account has.
const defaultBus = "default"

// busKey identifies a bus.
type busKey struct {
	scope aws.Scope
	name  string
}

// busRecord is the stored form of a bus.
type busRecord struct {
	Account, Region, Name string
	Description           string            `json:",omitempty"`
	KmsKey                string            `json:",omitempty"`
	DeadLetters           string            `json:",omitempty"`
	Tags                  map[string]string `json:",omitempty"`
	Policy                string            `json:",omitempty"`
	Log                   *logConfig        `json:",omitempty"`
	Created, Modified     int64             // milliseconds since 1970
}

// bus is a bus with its rules.
type bus struct {
	busRecord
	kept   bool // it is stored
	rules  map[string]*rule
	active []*rule // enabled rules with a pattern; the slice is replaced, not changed

	archives []*archive // of its events; the slice is replaced, not changed
}

func (b *bus) scope() aws.Scope { return aws.Scope{Account: b.Account, Region: b.Region} }
func (b *bus) arn() string      { return b.scope().ARN("events", "event-bus/"+b.Name) }
func (b *bus) key() string      { return "bus/" + b.Account + "/" + b.Region + "/" + b.Name }

// activate collects the rules with which events are matched. The caller holds mu.
func (b *bus) activate() {
	var active []*rule
	for _, r := range b.rules {
		if r.State != disabled && r.pattern != nil {
			active = append(active, r)
		}
	}
	slices.SortFunc(active, func(x, y *rule) int { return strings.Compare(x.Name, y.Name) })
	b.active = active
}

// find returns a bus by its name or ARN; empty means the default bus, which always exists. The caller holds mu for
// writing.
func (s *Service) find(scope aws.Scope, name string) (*bus, error) {
	key := keyOf(scope, name)
	b := s.buses[key]
	if b == nil && key.name == defaultBus {
		now := s.now().UnixMilli()
		b = &bus{rules: map[string]*rule{}, busRecord: busRecord{Account: key.scope.Account, Region: key.scope.Region,
			Name: defaultBus, Created: now, Modified: now}}
		s.buses[key] = b
	}
	if b == nil {
		return nil, notFound("Event bus %s does not exist.", key.name)
	}
	return b, nil
}

// keyOf returns the key of a bus that a request gives by name or ARN.
func keyOf(scope aws.Scope, name string) busKey {
	if a, ok := aws.ParseARN(name); ok {
		scope, name = a.Scope(), strings.TrimPrefix(a.Resource, "event-bus/")
	}
	if name == "" {
		name = defaultBus
	}
	return busKey{scope, name}
}

// keepBus stores the record of a bus. The caller holds mu.
func (s *Service) keepBus(b *bus) error {
	b.kept = true
	return s.o.Store.Write(func(batch *documents.Batch) error { return putJSON(batch, s.table, b.key(), b.busRecord) })
}

func putJSON(b *documents.Batch, t *documents.Table, key string, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		b.Put(t, key, text)
	}
	return err
}

type deadLetterConfig struct {
	ARN string `json:"Arn,omitempty"`
}

type busRequest struct {
	Name             string
	Description      *string
	KmsKeyIdentifier *string
	DeadLetterConfig *deadLetterConfig
	LogConfig        *logConfig
	EventSourceName  string
	Tags             []tag
}

// busSettings are the settings of a bus that can be changed.
type busSettings struct {
	Description      string            `json:",omitempty"`
	KmsKeyIdentifier string            `json:",omitempty"`
	DeadLetterConfig *deadLetterConfig `json:",omitempty"`
	LogConfig        *logConfig        `json:",omitempty"`
}

type logConfig struct {
	IncludeDetail string `json:",omitempty"`
	Level         string `json:",omitempty"`
}

type createBusAnswer struct {
	EventBusArn string
	busSettings
}

type updateBusAnswer struct {
	Name, Arn string
	busSettings
}

// listedBus is a bus in a list response.
type listedBus struct {
	Name, Arn        string
	Description      string      `json:",omitempty"`
	Policy           string      `json:",omitempty"`
	CreationTime     server.Time `json:",omitzero"`
	LastModifiedTime server.Time `json:",omitzero"`
}

type describeBusAnswer struct {
	Name, Arn        string
	Policy           string      `json:",omitempty"`
	CreationTime     server.Time `json:",omitzero"`
	LastModifiedTime server.Time `json:",omitzero"`
	busSettings
}

func (b *bus) settings() busSettings {
	a := busSettings{Description: b.Description, KmsKeyIdentifier: b.KmsKey, LogConfig: b.Log}
	if b.DeadLetters != "" {
		a.DeadLetterConfig = &deadLetterConfig{b.DeadLetters}
	}
	return a
}

func (b *bus) listed() listedBus {
	return listedBus{Name: b.Name, Arn: b.arn(), Description: b.Description, Policy: b.Policy,
		CreationTime: timeOf(b.Created), LastModifiedTime: timeOf(b.Modified)}
}

func (in *busRequest) set(b *bus) error {
	if err := rejectUnsupported(map[string]bool{"EventSourceName": in.EventSourceName != "",
		"LogConfig": in.LogConfig != nil && in.LogConfig.Level != "OFF"}); err != nil {
		return err
	}
	if in.LogConfig != nil {
		b.Log = in.LogConfig
	}
	if in.Description != nil {
		b.Description = *in.Description
	}
	if in.KmsKeyIdentifier != nil {
		b.KmsKey = *in.KmsKeyIdentifier
	}
	if in.DeadLetterConfig != nil {
		b.DeadLetters = in.DeadLetterConfig.ARN
	}
	return nil
}

func (s *Service) createEventBus(_ context.Context, scope aws.Scope, in *busRequest) (*createBusAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := busKey{scope, in.Name}
	if s.buses[key] != nil || in.Name == defaultBus {
		return nil, exists("Event bus %s already exists.", in.Name)
	}
	if strings.Contains(in.Name, "/") {
		return nil, invalid("Event bus name must not contain '/'.")
	}
	now := s.now().UnixMilli()
	b := &bus{rules: map[string]*rule{}, busRecord: busRecord{Account: scope.Account, Region: scope.Region,
		Name: in.Name, Tags: tagsOf(in.Tags), Created: now, Modified: now}}
	if err := in.set(b); err != nil {
		return nil, err
	}
	if err := s.keepBus(b); err != nil {
		return nil, err
	}
	s.buses[key] = b
	return &createBusAnswer{b.arn(), b.settings()}, nil
}

func (s *Service) updateEventBus(_ context.Context, scope aws.Scope, in *busRequest) (*updateBusAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	if err := in.set(b); err != nil {
		return nil, err
	}
	b.Modified = s.now().UnixMilli()
	return &updateBusAnswer{b.Name, b.arn(), b.settings()}, s.keepBus(b)
}

func (s *Service) describeEventBus(_ context.Context, scope aws.Scope, in *struct{ Name string }) (*describeBusAnswer,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	return &describeBusAnswer{b.Name, b.arn(), b.Policy, timeOf(b.Created), timeOf(b.Modified), b.settings()}, nil
}

func (s *Service) deleteEventBus(_ context.Context, scope aws.Scope, in *struct{ Name string }) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(scope, in.Name)
	if key.name == defaultBus {
		return nil, invalid("Cannot delete event bus default.")
	}
	b := s.buses[key]
	if b == nil {
		return &none{}, nil
	}
	if len(b.rules) > 0 {
		return nil, invalid("Event bus %s cannot be deleted since it has rules.", b.Name)
	}
	if len(b.archives) > 0 {
		return nil, invalid("Event bus %s cannot be deleted since it has archives.", b.Name)
	}
	delete(s.buses, key)
	return &none{}, s.o.Store.Write(func(batch *documents.Batch) error {
		batch.Delete(s.table, b.key())
		return nil
	})
}

type listBusesRequest struct {
	paged
	NamePrefix string
}

type busesAnswer struct {
	EventBuses []listedBus
	NextToken  string `json:",omitempty"`
}

func (s *Service) listEventBuses(_ context.Context, scope aws.Scope, in *listBusesRequest) (*busesAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(scope, defaultBus); err != nil {
		return nil, err
	}
	all := []listedBus{}
	for key, b := range s.buses {
		if key.scope == scope && strings.HasPrefix(b.Name, in.NamePrefix) {
			all = append(all, b.listed())
		}
	}
	slices.SortFunc(all, func(a, b listedBus) int { return strings.Compare(a.Name, b.Name) })
	part, next, err := page(s, in.paged, []string{"ListEventBuses", scope.Account, scope.Region, in.NamePrefix}, all,
		func(b listedBus) string { return b.Name })
	return &busesAnswer{part, next}, err
}
