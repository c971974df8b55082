package resource

import "context"

func schedules() []*Type {
	return []*Type{{
		Name: "AWS::Scheduler::Schedule",
		Properties: properties(`Name= GroupName! Description EndDate FlexibleTimeWindow* KmsKeyArn ScheduleExpression*
			ScheduleExpressionTimezone StartDate State Target*`),
		Create: func(ctx context.Context, r *Request) (State, error) { return putSchedule(ctx, r, "CreateSchedule") },
		Update: func(ctx context.Context, r *Request) (State, error) { return putSchedule(ctx, r, "UpdateSchedule") },
		Delete: func(ctx context.Context, r *Request) error {
			in := pick(r.Properties, "GroupName")
			in["Name"] = r.ID
			return ignoreAbsent(r.Call(ctx, "scheduler", "DeleteSchedule", in, nil))
		},
		Read: readSchedule,
	}, {
		Name: "AWS::Scheduler::ScheduleGroup", Properties: properties("Name= Tags"),
		Create: func(ctx context.Context, r *Request) (State, error) {
			name := r.named("Name", 64)
			in := map[string]any{"Name": name}
			set(in, "Tags", r.tagList())
			if _, err := r.create(ctx, "scheduler", "CreateScheduleGroup", in, nil); err != nil {
				return State{}, err
			}
			return groupState(ctx, r, name)
		},
		Update: func(ctx context.Context, r *Request) (State, error) {
			s, err := groupState(ctx, r, r.ID)
			if err != nil {
				return s, err
			}
			return s, r.retag(ctx, "scheduler", "TagResource", "UntagResource", map[string]any{
				"ResourceArn": s.Attributes["Arn"]}, "Tags", "TagKeys", asKeyValue)
		},
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "scheduler", "DeleteScheduleGroup", map[string]any{"Name": r.ID}, nil))
		},
	}}
}

func groupState(ctx context.Context, r *Request, name string) (State, error) {
	var out map[string]any
	err := r.Call(ctx, "scheduler", "GetScheduleGroup", map[string]any{"Name": name}, &out)
	return State{ID: name, Attributes: map[string]any{"Arn": r.Scope.ARN("scheduler", "schedule-group/"+name),
		"State": out["State"], "CreationDate": attributeText("CreationDate", out["CreationDate"]),
		"LastModificationDate": attributeText("LastModificationDate", out["LastModificationDate"])}}, err
}

func putSchedule(ctx context.Context, r *Request, operation string) (State, error) {
	name := r.named("Name", 64)
	in := pick(r.Properties, `GroupName Description EndDate FlexibleTimeWindow KmsKeyArn ScheduleExpression
		ScheduleExpressionTimezone StartDate State Target`)
	in["Name"] = name
	made, err := r.create(ctx, "scheduler", operation, in, nil)
	if err == nil && !made {
		err = r.Call(ctx, "scheduler", "UpdateSchedule", in, nil)
	}
	return created(State{ID: name, Attributes: map[string]any{
		"Arn": r.Scope.ARN("scheduler", "schedule/"+nonempty(r.text("GroupName"), "default")+"/"+name)}}, err)
}

func readSchedule(ctx context.Context, r *Request) (map[string]any, error) {
	in := pick(r.Properties, "GroupName")
	in["Name"] = r.ID
	var out struct {
		Name, GroupName, Description, State, ScheduleExpression, ScheduleExpressionTimezone string
		FlexibleTimeWindow                                                                  map[string]any
	}
	if err := r.Call(ctx, "scheduler", "GetSchedule", in, &out); err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{"Name": out.Name, "GroupName": out.GroupName, "State": out.State,
		"ScheduleExpression": out.ScheduleExpression, "ScheduleExpressionTimezone": out.ScheduleExpressionTimezone,
		"FlexibleTimeWindow": out.FlexibleTimeWindow}
	set(p, "Description", out.Description)
	return p, nil
}
