package cloudformation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"stepback/aws"
)

// rollbackConfiguration names alarms that roll a deployment back if they fire while it runs, and how long they are
// monitored afterwards.
type rollbackConfiguration struct {
	Triggers []rollbackTrigger `json:"RollbackTriggers,omitempty"`
	Minutes  *int              `json:"MonitoringTimeInMinutes,omitempty"`
}

type rollbackTrigger struct {
	ARN  string `json:"Arn"`
	Type string
}

// check rejects triggers that are not alarms.
func (r *rollbackConfiguration) check() error {
	const most = 5
	if len(r.Triggers) > most {
		return invalid("You can specify at most %d rollback triggers", most)
	}
	for _, t := range r.Triggers {
		if t.Type != "AWS::CloudWatch::Alarm" && t.Type != "AWS::CloudWatch::CompositeAlarm" {
			return invalid("Rollback Trigger Type not supported")
		}
		arn, ok := aws.ParseARN(t.ARN)
		if !ok || arn.Service != "cloudwatch" || alarmOf(t.ARN) == "" {
			return invalid("RelativeId of a Rollback Trigger's ARN is incorrect")
		}
	}
	return nil
}

// alarmOf returns the name of the alarm in an ARN; empty if it is not the ARN of an alarm.
func alarmOf(text string) string {
	arn, _ := aws.ParseARN(text)
	const kind = "alarm:"
	if len(arn.Resource) <= len(kind) || arn.Resource[:len(kind)] != kind {
		return ""
	}
	return arn.Resource[len(kind):]
}

// monitored watches the deployment's alarms for its monitoring time. It returns an error if an alarm is in ALARM or
// does not exist.
func (d *deployment) monitored() error {
	config := &d.op.Target.Rollback
	if len(config.Triggers) == 0 {
		return nil
	}
	const often = 10 * time.Second
	var left time.Duration
	if config.Minutes != nil {
		left = time.Duration(*config.Minutes) * time.Minute
	}
	for {
		for _, t := range config.Triggers {
			if err := d.triggered(d.ctx, t); err != nil {
				return err
			}
		}
		if left <= 0 {
			return nil
		}
		if err := d.waits.sleep(d.ctx, min(often, left)); err != nil {
			return err
		}
		left -= often
	}
}

// triggered returns an error if a trigger's alarm is in ALARM or does not exist.
func (d *deployment) triggered(ctx context.Context, t rollbackTrigger) error {
	arn, _ := aws.ParseARN(t.ARN)
	name := alarmOf(t.ARN)
	type state struct{ StateValue string }
	var out struct{ MetricAlarms, CompositeAlarms []state }
	if err := d.s.opts.API(arn.Scope(), d.identity()).Call(ctx, "cloudwatch", "DescribeAlarms", map[string]any{
		"AlarmNames": []any{name}, "AlarmTypes": []any{"MetricAlarm", "CompositeAlarm"}}, &out); err != nil {
		return err
	}
	states := slices.Concat(out.MetricAlarms, out.CompositeAlarms)
	if len(states) == 0 {
		return fmt.Errorf("the alarm %s of the RollbackTriggers does not exist", t.ARN)
	}
	if states[0].StateValue == "ALARM" {
		return fmt.Errorf("the alarm %s of the RollbackTriggers is in ALARM", t.ARN)
	}
	return nil
}
