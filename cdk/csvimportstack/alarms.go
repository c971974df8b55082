package csvimportstack

import (
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/jsii-runtime-go"

	"stepback/alarms"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// addAlarms declares the alarms and the composites that page. Alarms that do not page through a composite send their
// own messages; a rule reports recoveries.
func (s *Stack) addAlarms() error {
	set, err := alarms.New(alarms.Options{
		StateMachine: s.Environment.Prefix(), Level: retrymetrics.Level(s.Environment.LogLevel),
		Topic: *s.Notices.TopicArn(), PagingTopic: *s.Pages.TopicArn(), Guide: s.guide(),
		MachineARN: *s.states("stateMachine", s.Environment.Prefix()), Timeout: s.Environment.Timeout,
		FilesMachine: *s.name(filesFunction), FilesMachineARN: *s.states("stateMachine", *s.name(filesFunction)),
		FilesTimeout:     statemachine.FilesTimeout,
		UndeliveredQueue: *s.name(undeliveredEvents), NotificationQueue: *s.name(undeliverable),
		PagesTopic: *s.name(pagesTopic), NoticesTopic: *s.name(noticesTopic), ImportsTopic: *s.name(importsTopic),
		MetricsFunction: *s.name(metricsFunction), AdaptFunction: s.nameOf(adaptFunction, s.hasAdapt()),
		RelayFunction: s.nameOf(relayFunction, s.hasRelay()), PruneFunction: s.nameOf(pruneFunction, s.hasPrune()),
		TrainFunction: s.nameOf(trainFunction, s.hasAdapt()), Cluster: s.cluster,
	})
	if err != nil {
		return err
	}
	all, composites := set.Put()
	var parts []awscloudwatch.CfnAlarm
	for _, a := range all {
		parts = append(parts, s.alarm(a))
	}
	for _, c := range composites {
		composite := awscloudwatch.NewCfnCompositeAlarm(s.Stack, jsii.String("Composite-"+s.part(c.AlarmName)),
			&awscloudwatch.CfnCompositeAlarmProps{
				AlarmName: jsii.String(c.AlarmName), AlarmDescription: jsii.String(c.AlarmDescription),
				AlarmRule: jsii.String(c.AlarmRule), ActionsEnabled: c.ActionsEnabled, AlarmActions: actions(c.AlarmActions),
			})
		for i, a := range all {
			// The composite's rule names alarms, but CloudFormation does not infer a dependency from it.
			if strings.Contains(c.AlarmRule, strconv.Quote(a.AlarmName)) {
				composite.Node().AddDependency(parts[i])
			}
		}
		s.alarmARNs = append(s.alarmARNs, *s.alarmARN(c.AlarmName))
	}
	for _, a := range all {
		s.alarmARNs = append(s.alarmARNs, *s.alarmARN(a.AlarmName))
	}
	s.addRecoveries(set.Recoveries())
	return nil
}

// part returns an alarm's name without the environment's prefix.
func (s *Stack) part(alarm string) string {
	return strings.TrimPrefix(alarm, s.Environment.Prefix()+"-")
}

// recovered names the rule that reports alarms that have turned OK.
const recovered = "recovered"

// addRecoveries declares the rule that reports each change of the alarms from ALARM to OK. OKActions would also report
// the first evaluation of a new alarm.
func (s *Stack) addRecoveries(names []string) {
	awsevents.NewCfnRule(s.Stack, jsii.String("Recovered"), &awsevents.CfnRuleProps{
		Name: s.name(recovered), Description: jsii.String("Sends a notice when an alarm turns from ALARM to OK"),
		EventPattern: map[string]any{
			"source": []string{"aws.cloudwatch"}, "detail-type": []string{"CloudWatch Alarm State Change"},
			"detail": map[string]any{
				"alarmName": names, "state": map[string]any{"value": []string{"OK"}},
				"previousState": map[string]any{"value": []string{"ALARM"}},
			},
		},
		Targets: []any{&awsevents.CfnRule_TargetProperty{
			Id: jsii.String("notices"), Arn: s.Notices.TopicArn(),
			InputTransformer: &awsevents.CfnRule_InputTransformerProperty{
				InputPathsMap: &map[string]*string{"alarm": jsii.String("$.detail.alarmName"),
					"reason": jsii.String("$.detail.state.reason"), "time": jsii.String("$.time")},
				InputTemplate: jsii.String(`"<alarm> is OK again since <time>: <reason>"`),
			},
		}},
	})
	s.mayNotify("Recovered", recovered)
}

// alarmARN builds an alarm's ARN from its name: a reference would make the dashboard wait for the alarms.
func (s *Stack) alarmARN(name string) *string {
	return s.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("cloudwatch"), Resource: jsii.String("alarm"), ResourceName: jsii.String(name),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
}

// alarm declares one alarm from PutMetricAlarm's input, whose members are CloudFormation's properties.
func (s *Stack) alarm(a alarms.PutMetricAlarm) awscloudwatch.CfnAlarm {
	props := &awscloudwatch.CfnAlarmProps{
		AlarmName: jsii.String(a.AlarmName), AlarmDescription: jsii.String(a.AlarmDescription),
		ActionsEnabled: a.ActionsEnabled, AlarmActions: actions(a.AlarmActions), InsufficientDataActions: actions(a.InsufficientDataActions),
		EvaluationPeriods: jsii.Number(a.EvaluationPeriods), DatapointsToAlarm: jsii.Number(a.DatapointsToAlarm),
		Threshold: jsii.Number(a.Threshold), ComparisonOperator: jsii.String(string(a.ComparisonOperator)),
		TreatMissingData:                 jsii.String(string(a.TreatMissingData)),
		EvaluateLowSampleCountPercentile: optional(a.EvaluateLowSampleCountPercentile),
		Statistic:                        optional(string(a.Statistic)),
		ExtendedStatistic:                optional(string(a.ExtendedStatistic)),
	}
	if a.MetricName != "" {
		props.Namespace, props.MetricName, props.Unit = jsii.String(a.Namespace), jsii.String(a.MetricName),
			jsii.String(string(a.Unit))
		props.Dimensions, props.Period = dimensions(a.Dimensions), jsii.Number(a.Period)
	} else {
		props.Metrics = queries(a.Metrics)
	}
	return awscloudwatch.NewCfnAlarm(s.Stack, jsii.String("Alarm-"+s.part(a.AlarmName)), props)
}

func queries(all []alarms.MetricDataQuery) []*awscloudwatch.CfnAlarm_MetricDataQueryProperty {
	out := make([]*awscloudwatch.CfnAlarm_MetricDataQueryProperty, 0, len(all))
	for _, q := range all {
		made := &awscloudwatch.CfnAlarm_MetricDataQueryProperty{
			Id: jsii.String(q.ID), Expression: optional(q.Expression), Label: optional(q.Label), ReturnData: q.ReturnData,
		}
		if m := q.MetricStat; m != nil {
			made.MetricStat = &awscloudwatch.CfnAlarm_MetricStatProperty{
				Metric: &awscloudwatch.CfnAlarm_MetricProperty{
					Namespace: jsii.String(m.Metric.Namespace), MetricName: jsii.String(m.Metric.MetricName),
					Dimensions: dimensions(m.Metric.Dimensions),
				},
				Period: jsii.Number(m.Period), Stat: jsii.String(string(m.Stat)), Unit: jsii.String(string(m.Unit)),
			}
		}
		out = append(out, made)
	}
	return out
}

func dimensions(all []alarms.NamedValue) []*awscloudwatch.CfnAlarm_DimensionProperty {
	out := make([]*awscloudwatch.CfnAlarm_DimensionProperty, 0, len(all))
	for _, d := range all {
		out = append(out, &awscloudwatch.CfnAlarm_DimensionProperty{Name: jsii.String(string(d.Name)),
			Value: jsii.String(d.Value)})
	}
	return out
}

func actions(arns []string) *[]any {
	if len(arns) == 0 {
		return nil
	}
	out := make([]any, 0, len(arns))
	for _, arn := range arns {
		out = append(out, arn)
	}
	return &out
}

// optional returns nil for an empty text, which omits a property.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
