package events

import (
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
)

type createArchiveRequest struct {
	ArchiveName      string
	EventSourceArn   string
	Description      *string
	EventPattern     *string
	RetentionDays    *int64
	KmsKeyIdentifier *string
}

// archiveAnswer is the response of operations that change an archive.
type archiveAnswer struct {
	ArchiveArn, State string
	StateReason       string `json:",omitempty"`
	CreationTime      server.Time
}

type describeArchiveAnswer struct {
	listedArchive
	ArchiveArn       string
	Description      string `json:",omitempty"`
	EventPattern     string `json:",omitempty"`
	KmsKeyIdentifier string `json:",omitempty"`
}

type listedArchive struct {
	ArchiveName, EventSourceArn, State string
	StateReason                        string `json:",omitempty"`
	RetentionDays                      int64
	SizeBytes, EventCount              int64
	CreationTime                       server.Time
}

// set applies a request to an archive.
func (in *createArchiveRequest) set(record *archiveRecord) {
	for from, to := range map[*string]*string{in.Description: &record.Description, in.EventPattern: &record.Pattern,
		in.KmsKeyIdentifier: &record.KmsKey} {
		if from != nil {
			*to = *from
		}
	}
	if in.RetentionDays != nil {
		record.Days = *in.RetentionDays
	}
}

// maxArchives is the maximum number of archives of an account in a region.
const maxArchives = 100

func (s *Service) createArchive(_ context.Context, scope aws.Scope, in *createArchiveRequest) (*archiveAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.EventSourceArn)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(in.EventSourceArn, ":event-bus/") || b.scope() != scope {
		return nil, invalid("Parameter EventSourceArn is not valid. Reason: it is not the ARN of an event bus of the account.")
	}
	record := archiveRecord{Account: scope.Account, Region: scope.Region, Name: in.ArchiveName, Bus: b.Name,
		Created: s.now().UnixMilli()}
	in.set(&record)
	a, err := newArchive(record)
	if err != nil {
		return nil, err
	}
	if s.kept[a.key()] != nil {
		return nil, exists("Archive %s already exists.", a.Name)
	}
	n := 0
	for _, other := range s.kept {
		if other.scope() == scope {
			n++
		}
	}
	if n >= maxArchives {
		return nil, &aws.Error{Code: "LimitExceededException",
			Message: "The requested resource exceeds the maximum number allowed."}
	}
	return s.replaceArchive(a)
}

// replaceArchive stores a version of an archive and makes it effective. The caller holds mu.
func (s *Service) replaceArchive(a *archive) (*archiveAnswer, error) {
	if err := s.keepJSON(a.key(), a.archiveRecord); err != nil {
		return nil, err
	}
	s.kept[a.key()] = a
	s.updateArchives(a.bus())
	return &archiveAnswer{ArchiveArn: a.arn(), State: enabled, CreationTime: timeOf(a.Created)}, nil
}

func (s *Service) updateArchive(_ context.Context, scope aws.Scope, in *createArchiveRequest) (*archiveAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.findArchive(scope, in.ArchiveName)
	if err != nil {
		return nil, err
	}
	record := before.archiveRecord
	in.set(&record)
	a, err := newArchive(record)
	if err != nil {
		return nil, err
	}
	a.holds = before.holds
	return s.replaceArchive(a)
}

type archiveRequest struct{ ArchiveName string }

func (s *Service) describeArchive(_ context.Context, scope aws.Scope, in *archiveRequest) (*describeArchiveAnswer, error) {
	s.mu.RLock()
	a, err := s.findArchive(scope, in.ArchiveName)
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	listed, err := s.listedArchive(a)
	return &describeArchiveAnswer{listedArchive: listed, ArchiveArn: a.arn(), Description: a.Description,
		EventPattern: a.Pattern, KmsKeyIdentifier: a.KmsKey}, err
}

// listedArchive returns an archive with its present holdings.
func (s *Service) listedArchive(a *archive) (listedArchive, error) {
	if err := s.sweep(a); err != nil {
		return listedArchive{}, err
	}
	a.holds.mu.Lock()
	defer a.holds.mu.Unlock()
	return listedArchive{ArchiveName: a.Name, EventSourceArn: a.scope().ARN("events", "event-bus/"+a.Bus),
		State: enabled, RetentionDays: a.Days, SizeBytes: a.holds.bytes, EventCount: a.holds.events,
		CreationTime: timeOf(a.Created)}, nil
}

func (s *Service) deleteArchive(_ context.Context, scope aws.Scope, in *archiveRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.findArchive(scope, in.ArchiveName)
	if err != nil {
		return nil, err
	}
	if err := s.o.Store.Write(func(b *documents.Batch) error {
		b.Delete(s.table, a.key())
		b.DeleteAll(s.archives, a.events())
		return nil
	}); err != nil {
		return nil, err
	}
	delete(s.kept, a.key())
	s.updateArchives(a.bus())
	return &none{}, nil
}

type listArchivesRequest struct {
	paged
	NamePrefix, EventSourceArn, State string
}

type archivesAnswer struct {
	Archives  []listedArchive
	NextToken string `json:",omitempty"`
}

// oneFilter rejects a list request with more than one filter.
func oneFilter(operation string, filters ...string) error {
	n := 0
	for _, f := range filters {
		if f != "" {
			n++
		}
	}
	if n > 1 {
		return invalid("At most one filter is allowed for %s. Use either : State, EventSourceArn, or NamePrefix.", operation)
	}
	return nil
}

func (s *Service) listArchives(_ context.Context, scope aws.Scope, in *listArchivesRequest) (*archivesAnswer, error) {
	if err := oneFilter("ListArchives", in.NamePrefix, in.EventSourceArn, in.State); err != nil {
		return nil, err
	}
	s.mu.RLock()
	all := []*archive{}
	if in.EventSourceArn != "" {
		if _, err := s.find(scope, in.EventSourceArn); err != nil {
			s.mu.RUnlock()
			return nil, err
		}
	}
	for _, a := range s.kept {
		if a.scope() == scope && strings.HasPrefix(a.Name, in.NamePrefix) &&
			(in.EventSourceArn == "" || keyOf(scope, in.EventSourceArn) == a.bus()) && (in.State == "" || in.State == enabled) {
			all = append(all, a)
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(all, func(x, y *archive) int { return strings.Compare(x.Name, y.Name) })
	part, next, err := page(s, in.paged, []string{"ListArchives", scope.Account, scope.Region, in.NamePrefix,
		in.EventSourceArn, in.State}, all, func(a *archive) string { return a.Name })
	if err != nil {
		return nil, err
	}
	answer := &archivesAnswer{Archives: make([]listedArchive, len(part)), NextToken: next}
	for i, a := range part {
		if answer.Archives[i], err = s.listedArchive(a); err != nil {
			return nil, err
		}
	}
	return answer, nil
}
