package resource

import "context"

func alarms() []*Type {
	return []*Type{{
		Name: "AWS::CloudWatch::Alarm",
		Properties: properties(`AlarmName= ActionsEnabled AlarmActions AlarmDescription ComparisonOperator*
			DatapointsToAlarm Dimensions EvaluateLowSampleCountPercentile EvaluationPeriods* ExtendedStatistic
			InsufficientDataActions MetricName Metrics Namespace OKActions Period Statistic Tags Threshold
			ThresholdMetricId TreatMissingData Unit`),
		Create: putAlarm, Update: putAlarm, Delete: deleteAlarm, Read: readAlarm,
	}, {
		Name: "AWS::CloudWatch::CompositeAlarm",
		Properties: properties(`AlarmName= ActionsEnabled ActionsSuppressor ActionsSuppressorExtensionPeriod
			ActionsSuppressorWaitPeriod AlarmActions AlarmDescription AlarmRule* InsufficientDataActions OKActions Tags`),
		Create: putComposite, Update: putComposite, Delete: deleteAlarm,
	}, {
		Name: "AWS::CloudWatch::Dashboard", Properties: properties("DashboardName= DashboardBody*"),
		Create: putDashboard, Update: putDashboard,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "cloudwatch", "DeleteDashboards", map[string]any{"DashboardNames": []string{r.ID}}, nil))
		},
		Read: func(ctx context.Context, r *Request) (map[string]any, error) {
			var out struct{ DashboardBody string }
			if err := r.Call(ctx, "cloudwatch", "GetDashboard", map[string]any{"DashboardName": r.ID}, &out); err != nil {
				return nil, goneIfAbsent(err)
			}
			return map[string]any{"DashboardName": r.ID, "DashboardBody": out.DashboardBody}, nil
		},
	}}
}

func putAlarm(ctx context.Context, r *Request) (State, error) {
	name := r.named("AlarmName", 255)
	in := pick(r.Properties, `ActionsEnabled AlarmActions AlarmDescription ComparisonOperator DatapointsToAlarm Dimensions
		EvaluateLowSampleCountPercentile EvaluationPeriods ExtendedStatistic InsufficientDataActions MetricName Metrics
		Namespace OKActions Period Statistic Threshold ThresholdMetricId TreatMissingData Unit`)
	in["AlarmName"] = name
	return putAlarmBy(ctx, r, "PutMetricAlarm", name, in)
}

func putComposite(ctx context.Context, r *Request) (State, error) {
	name := r.named("AlarmName", 255)
	in := pick(r.Properties, `ActionsEnabled ActionsSuppressor ActionsSuppressorExtensionPeriod ActionsSuppressorWaitPeriod
		AlarmActions AlarmDescription AlarmRule InsufficientDataActions OKActions`)
	in["AlarmName"] = name
	return putAlarmBy(ctx, r, "PutCompositeAlarm", name, in)
}

func putAlarmBy(ctx context.Context, r *Request, operation, name string, in map[string]any) (State, error) {
	if r.Previous == nil {
		set(in, "Tags", r.tagList())
	}
	arn := r.Scope.ARN("cloudwatch", "alarm:"+name)
	state := State{ID: name, Attributes: map[string]any{"Arn": arn}}
	if err := r.Call(ctx, "cloudwatch", operation, in, nil); err != nil || r.Previous == nil {
		return created(state, err)
	}
	return state, r.retag(ctx, "cloudwatch", "TagResource", "UntagResource", map[string]any{"ResourceARN": arn}, "Tags",
		"TagKeys", asKeyValue)
}

func deleteAlarm(ctx context.Context, r *Request) error {
	return ignoreAbsent(r.Call(ctx, "cloudwatch", "DeleteAlarms", map[string]any{"AlarmNames": []string{r.ID}}, nil))
}

func readAlarm(ctx context.Context, r *Request) (map[string]any, error) {
	var out struct{ MetricAlarms []map[string]any }
	if err := r.Call(ctx, "cloudwatch", "DescribeAlarms", map[string]any{"AlarmNames": []string{r.ID}}, &out); err != nil {
		return nil, err
	}
	if len(out.MetricAlarms) == 0 {
		return nil, ErrGone
	}
	return pick(out.MetricAlarms[0], `AlarmName ActionsEnabled AlarmActions AlarmDescription ComparisonOperator
		DatapointsToAlarm EvaluationPeriods ExtendedStatistic InsufficientDataActions MetricName Namespace
		OKActions Period
		Statistic Threshold TreatMissingData Unit`), nil
}

func putDashboard(ctx context.Context, r *Request) (State, error) {
	name := r.named("DashboardName", 255)
	return created(State{ID: name}, r.Call(ctx, "cloudwatch", "PutDashboard", map[string]any{"DashboardName": name,
		"DashboardBody": document(r.Properties["DashboardBody"])}, nil))
}
