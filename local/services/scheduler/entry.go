package scheduler

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/local/services/schedule"
)

// The states of a schedule.
const (
	enabled  = "ENABLED"
	disabled = "DISABLED"
)

// record is a schedule as it is stored.
type record struct {
	Account, Region, Group, Name string
	Description                  string `json:",omitempty"`
	Expression, Zone             string
	Start, End                   int64 `json:",omitempty"` // milliseconds since 1970; 0 means none
	State                        string
	Window                       int64           `json:",omitempty"` // minutes; 0 means none
	Action                       string          `json:",omitempty"` // after completion
	KmsKeyArn                    string          `json:",omitempty"`
	Target                       json.RawMessage // verbatim
	Created, Modified            int64
	Token                        string `json:",omitempty"` // ClientToken of the request that created the schedule
}

// entry is an active schedule.
type entry struct {
	record
	arn      string
	schedule schedule.Schedule
	target   target
	timer    *clock.Timer
	fired    int64 // last scheduled time at which the target was called, in milliseconds since 1970; stored separately
}

func (r *record) scope() aws.Scope { return aws.Scope{Account: r.Account, Region: r.Region} }
func (r *record) key() string {
	return "schedule/" + r.Account + "/" + r.Region + "/" + r.Group + "/" + r.Name
}
func (r *record) firedKey() string { return "fired/" + r.key() }

// newEntry compiles a stored schedule.
func (s *Service) newEntry(r record) (*entry, error) {
	e := &entry{record: r}
	e.arn = r.scope().ARN("scheduler", "schedule/"+r.Group+"/"+r.Name)
	zone, err := time.LoadLocation(r.Zone)
	if err != nil || r.Zone == "Local" {
		return nil, invalid("Invalid ScheduleExpressionTimezone %s.", r.Zone)
	}
	style := schedule.Style{Once: true, AnyPlural: true, Zone: zone}
	if e.schedule, err = schedule.Parse(r.Expression, style); err != nil {
		return nil, invalid("Invalid Schedule Expression %s.", r.Expression)
	}
	if r.Start != 0 && r.End != 0 && r.Start >= r.End {
		return nil, invalid("The StartDate must come before, or equal, the EndDate.")
	}
	v, err := jsonvalue.Parse(string(r.Target))
	if err != nil {
		return nil, err
	}
	if err := server.Fill(&e.target, v); err != nil {
		return nil, err
	}
	return e, s.checkTarget(&e.target)
}

type flexibleWindow struct {
	Mode                   string
	MaximumWindowInMinutes int64 `json:",omitempty"`
}

type scheduleRequest struct {
	Name, GroupName            string
	Description                string
	ScheduleExpression         string
	ScheduleExpressionTimezone string
	StartDate, EndDate         float64
	State                      string
	ClientToken                string
	FlexibleTimeWindow         flexibleWindow
	ActionAfterCompletion      string
	KmsKeyArn                  string
	Target                     jsonvalue.Value
}

// record converts a request to a record.
func (in *scheduleRequest) record(g *group, created, now int64) (record, error) {
	r := record{Account: g.Account, Region: g.Region, Group: g.Name, Name: in.Name, Description: in.Description,
		Expression: in.ScheduleExpression, Zone: in.ScheduleExpressionTimezone, State: in.State,
		Start: int64(in.StartDate * 1000), End: int64(in.EndDate * 1000),
		Window: in.FlexibleTimeWindow.MaximumWindowInMinutes,
		Action: in.ActionAfterCompletion, KmsKeyArn: in.KmsKeyArn, Target: json.RawMessage(in.Target.JSON()),
		Created: created, Modified: now}
	if r.Zone == "" {
		r.Zone = "UTC"
	}
	if r.State == "" {
		r.State = enabled
	}
	if r.Action == "" {
		r.Action = "NONE"
	}
	switch flexible := in.FlexibleTimeWindow.Mode == "FLEXIBLE"; {
	case flexible && r.Window == 0:
		return r, invalid("A MaximumWindowInMinutes must be provided when the FlexibleTimeWindow Mode is FLEXIBLE.")
	case !flexible && r.Window != 0:
		return r, invalid("A MaximumWindowInMinutes must not be provided when the FlexibleTimeWindow Mode is OFF.")
	case r.End != 0 && r.End <= now:
		return r, invalid("The EndDate you specify must be in the future.")
	}
	return r, nil
}

type scheduleARN struct {
	ScheduleArn string
}

func (s *Service) createSchedule(_ context.Context, scope aws.Scope, in *scheduleRequest) (*scheduleARN, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.group(scope, in.GroupName)
	if err != nil {
		return nil, err
	}
	if before := g.schedules[in.Name]; before != nil {
		again, err := in.record(g, before.Created, before.Modified)
		again.Token = in.ClientToken
		if err == nil && in.ClientToken != "" && reflect.DeepEqual(again, before.record) {
			return &scheduleARN{before.arn}, nil // the same request again
		}
		return nil, conflict("Schedule %s already exists.", in.Name)
	}
	now := s.now().UnixMilli()
	return s.put(g, in, now, now, in.ClientToken)
}

func (s *Service) updateSchedule(_ context.Context, scope aws.Scope, in *scheduleRequest) (*scheduleARN, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, e, err := s.find(scope, in.GroupName, in.Name)
	if err != nil {
		return nil, err
	}
	return s.put(g, in, e.Created, s.now().UnixMilli(), e.Token)
}

// onceForm is the form of one-time schedules. Earlier versions took hours of one digit and fractions of seconds.
var onceForm = lazyregexp.New(`^at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)$`)

// put stores a schedule, which was created with a ClientToken, and activates it. mu is held.
func (s *Service) put(g *group, in *scheduleRequest, created, now int64, token string) (*scheduleARN, error) {
	r, err := in.record(g, created, now)
	if err != nil {
		return nil, err
	}
	r.Token = token
	e, err := s.newEntry(r)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(r.Expression, "at(") && !onceForm.MatchString(r.Expression) {
		return nil, invalid("Invalid Schedule Expression %s.", r.Expression)
	}
	before := g.schedules[in.Name]
	const leeway = 5 * time.Minute
	if before == nil && r.Start != 0 && !schedule.Once(e.schedule) && r.Start < now-leeway.Milliseconds() {
		return nil, invalid("The StartDate you specify cannot be earlier than 5 minutes ago.")
	}
	if err := s.o.Store.Write(func(b *documents.Batch) error {
		b.Delete(s.table, e.firedKey())
		text, err := json.Marshal(r)
		b.Put(s.table, e.key(), text)
		return err
	}); err != nil {
		return nil, err
	}
	if before != nil {
		before.unplan()
	}
	g.schedules[in.Name] = e
	s.plan(e)
	return &scheduleARN{e.arn}, nil
}

// find returns a schedule and its group. mu is held.
func (s *Service) find(scope aws.Scope, groupName, name string) (*group, *entry, error) {
	g, err := s.group(scope, groupName)
	if err != nil {
		return nil, nil, err
	}
	e := g.schedules[name]
	if e == nil {
		return nil, nil, notFound("Schedule %s does not exist.", name)
	}
	return g, e, nil
}

type scheduleAnswer struct {
	Arn, Name, GroupName                           string
	Description                                    string `json:",omitempty"`
	ScheduleExpression, ScheduleExpressionTimezone string
	StartDate                                      server.Time `json:",omitzero"`
	EndDate                                        server.Time `json:",omitzero"`
	State                                          string
	FlexibleTimeWindow                             flexibleWindow
	ActionAfterCompletion                          string
	KmsKeyArn                                      string `json:",omitempty"`
	Target                                         json.RawMessage
	CreationDate, LastModificationDate             server.Time
}

func (s *Service) getSchedule(_ context.Context, scope aws.Scope, in *scheduleRequest) (*scheduleAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, e, err := s.find(scope, in.GroupName, in.Name)
	if err != nil {
		return nil, err
	}
	window := flexibleWindow{Mode: "OFF"}
	if e.Window > 0 {
		window = flexibleWindow{"FLEXIBLE", e.Window}
	}
	return &scheduleAnswer{Arn: e.arn, Name: e.Name, GroupName: e.Group, Description: e.Description,
		ScheduleExpression: e.Expression, ScheduleExpressionTimezone: e.Zone, StartDate: timeOf(e.Start),
		EndDate: timeOf(e.End), State: e.State, FlexibleTimeWindow: window, ActionAfterCompletion: e.Action,
		KmsKeyArn: e.KmsKeyArn, Target: e.Target,
		CreationDate: timeOf(e.Created), LastModificationDate: timeOf(e.Modified)}, nil
}

func (s *Service) deleteSchedule(_ context.Context, scope aws.Scope, in *scheduleRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, e, err := s.find(scope, in.GroupName, in.Name)
	if err != nil {
		return nil, err
	}
	if err := s.o.Store.Write(func(b *documents.Batch) error {
		b.Delete(s.table, e.key())
		b.Delete(s.table, e.firedKey())
		return nil
	}); err != nil {
		return nil, err
	}
	e.unplan()
	delete(g.schedules, e.Name)
	return &none{}, nil
}

type listSchedulesRequest struct {
	paged
	GroupName         string `json:"GroupName"`
	NamePrefix, State string
}

type listedSchedule struct {
	Arn, Name, GroupName, State        string
	Target                             targetARN
	CreationDate, LastModificationDate server.Time
}

type targetARN struct{ Arn string }

type schedulesAnswer struct {
	Schedules []listedSchedule
	NextToken string `json:",omitempty"`
}

func (s *Service) listSchedules(_ context.Context, scope aws.Scope, in *listSchedulesRequest) (*schedulesAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.GroupName != "" {
		if _, err := s.group(scope, in.GroupName); err != nil {
			return nil, err
		}
	}
	all := []listedSchedule{}
	for key, g := range s.groups {
		if key.scope != scope || in.GroupName != "" && in.GroupName != key.name {
			continue
		}
		for _, e := range g.schedules {
			if strings.HasPrefix(e.Name, in.NamePrefix) && (in.State == "" || in.State == e.State) {
				all = append(all, listedSchedule{e.arn, e.Name, e.Group, e.State, targetARN{e.target.ARN},
					timeOf(e.Created), timeOf(e.Modified)})
			}
		}
	}
	name := func(l listedSchedule) string { return l.Name + "/" + l.GroupName }
	slices.SortFunc(all, func(a, b listedSchedule) int { return strings.Compare(name(a), name(b)) })
	part, next, err := page(s, in.paged, []string{"ListSchedules", scope.Account, scope.Region, in.GroupName, in.NamePrefix,
		in.State}, all, name)
	return &schedulesAnswer{part, next}, err
}
