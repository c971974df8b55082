package scheduler

import (
	"context"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
)

// defaultGroup is the name of the group that exists in every account.
const defaultGroup = "default"

type groupKey struct {
	scope aws.Scope
	name  string
}

// groupRecord is a group as it is stored.
type groupRecord struct {
	Account, Region, Name string
	Tags                  map[string]string `json:",omitempty"`
	Created, Modified     int64             // milliseconds since 1970
	Token                 string            `json:",omitempty"` // ClientToken of the request that created the group
}

type group struct {
	groupRecord
	schedules map[string]*entry
}

func (g *group) scope() aws.Scope { return aws.Scope{Account: g.Account, Region: g.Region} }
func (g *group) arn() string      { return g.scope().ARN("scheduler", "schedule-group/"+g.Name) }
func (g *group) key() string      { return "group/" + g.Account + "/" + g.Region + "/" + g.Name }

// group returns the group with a name; empty means the default group, which always exists. mu is held.
func (s *Service) group(scope aws.Scope, name string) (*group, error) {
	if name == "" {
		name = defaultGroup
	}
	g := s.groups[groupKey{scope, name}]
	if g == nil && name == defaultGroup {
		now := s.now().UnixMilli()
		g = &group{groupRecord{scope.Account, scope.Region, name, nil, now, now, ""}, map[string]*entry{}}
		s.groups[groupKey{scope, name}] = g
	}
	if g == nil {
		return nil, notFound("Schedule group %s does not exist.", name)
	}
	return g, nil
}

type tag struct{ Key, Value string }

func tagsOf(given []tag) map[string]string {
	tags := make(map[string]string, len(given))
	for _, t := range given {
		tags[t.Key] = t.Value
	}
	return tags
}

type groupRequest struct {
	Name        string
	Tags        []tag
	ClientToken string
}

type groupARN struct {
	ScheduleGroupArn string
}

func (s *Service) createGroup(_ context.Context, scope aws.Scope, in *groupRequest) (*groupARN, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.groups[groupKey{scope, in.Name}]
	if before != nil && in.ClientToken != "" && before.Token == in.ClientToken &&
		maps.Equal(before.Tags, tagsOf(in.Tags)) {
		return &groupARN{before.arn()}, nil // the same request again
	}
	if in.Name == defaultGroup || before != nil {
		return nil, conflict("Schedule group %s already exists.", in.Name)
	}
	now := s.now().UnixMilli()
	g := &group{groupRecord{scope.Account, scope.Region, in.Name, tagsOf(in.Tags), now, now, in.ClientToken},
		map[string]*entry{}}
	if err := s.keepJSON(g.key(), g.groupRecord); err != nil {
		return nil, err
	}
	s.groups[groupKey{scope, in.Name}] = g
	return &groupARN{g.arn()}, nil
}

type groupAnswer struct {
	Arn, Name, State                   string
	CreationDate, LastModificationDate server.Time
}

func (g *group) shown() groupAnswer {
	return groupAnswer{g.arn(), g.Name, "ACTIVE", timeOf(g.Created), timeOf(g.Modified)}
}

func (s *Service) getGroup(_ context.Context, scope aws.Scope, in *groupRequest) (*groupAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.group(scope, in.Name)
	if err != nil {
		return nil, err
	}
	answer := g.shown()
	return &answer, nil
}

// deleteGroup deletes a group with its schedules.
func (s *Service) deleteGroup(_ context.Context, scope aws.Scope, in *groupRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Name == defaultGroup {
		return nil, invalid("The default schedule group can't be deleted.")
	}
	g, err := s.group(scope, in.Name)
	if err != nil {
		return nil, err
	}
	if err := s.o.Store.Write(func(b *documents.Batch) error {
		b.Delete(s.table, g.key())
		for _, e := range g.schedules {
			b.Delete(s.table, e.key())
			b.Delete(s.table, e.firedKey())
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, e := range g.schedules {
		e.unplan()
	}
	delete(s.groups, groupKey{scope, in.Name})
	return &none{}, nil
}

type listGroupsRequest struct {
	paged
	NamePrefix string
}

type groupsAnswer struct {
	ScheduleGroups []groupAnswer
	NextToken      string `json:",omitempty"`
}

func (s *Service) listGroups(_ context.Context, scope aws.Scope, in *listGroupsRequest) (*groupsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.group(scope, defaultGroup); err != nil {
		return nil, err
	}
	all := []groupAnswer{}
	for key, g := range s.groups {
		if key.scope == scope && strings.HasPrefix(g.Name, in.NamePrefix) {
			all = append(all, g.shown())
		}
	}
	slices.SortFunc(all, func(a, b groupAnswer) int { return strings.Compare(a.Name, b.Name) })
	part, next, err := page(s, in.paged, []string{"ListScheduleGroups", scope.Account, scope.Region, in.NamePrefix}, all,
		func(g groupAnswer) string { return g.Name })
	return &groupsAnswer{part, next}, err
}

type tagsRequest struct {
	ARN     string `json:"ResourceArn"`
	Tags    []tag
	TagKeys []string
}

type tagsAnswer struct {
	Tags []tag
}

// groupOfARN returns the group that a tagging request names. mu is held.
func (s *Service) groupOfARN(arn string) (*group, error) {
	a, _ := aws.ParseARN(arn)
	return s.group(a.Scope(), strings.TrimPrefix(a.Resource, "schedule-group/"))
}

// retag changes the tags of a group.
func (s *Service) retag(arn string, change func(map[string]string)) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.groupOfARN(arn)
	if err != nil {
		return nil, err
	}
	tags := maps.Clone(g.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	change(tags)
	g.Tags = tags
	return &none{}, s.keepJSON(g.key(), g.groupRecord)
}

func (s *Service) tagResource(_ context.Context, _ aws.Scope, in *tagsRequest) (*none, error) {
	return s.retag(in.ARN, func(tags map[string]string) { maps.Copy(tags, tagsOf(in.Tags)) })
}

func (s *Service) untagResource(_ context.Context, _ aws.Scope, in *tagsRequest) (*none, error) {
	return s.retag(in.ARN, func(tags map[string]string) {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
	})
}

func (s *Service) listTags(_ context.Context, _ aws.Scope, in *tagsRequest) (*tagsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.groupOfARN(in.ARN)
	if err != nil {
		return nil, err
	}
	answer := &tagsAnswer{Tags: []tag{}}
	for _, key := range slices.Sorted(maps.Keys(g.Tags)) {
		answer.Tags = append(answer.Tags, tag{key, g.Tags[key]})
	}
	return answer, nil
}
