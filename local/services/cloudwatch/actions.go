package cloudwatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/cloudwatch/evaluation"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
)

var errNoAlarm = errors.New("the alarm is not there any more")

// pending is an action that has not been delivered yet.
type pending struct {
	Scope    aws.Scope
	Alarm    string
	To       string
	Message  delivery.Message
	Attempts int
	Due      time.Time
}

// turn sets an alarm's state to the one that f returns, with its reason and data. The state, the history item and the
// resulting actions are stored together; the next round delivers the actions.
func (s *Service) turn(scope aws.Scope, name string, f func(*alarm) (state, reason, data string)) error {
	return s.change(func(b *documents.Batch) error {
		a, err := s.alarm(scope, name)
		if err != nil {
			return err
		}
		if a == nil {
			return errNoAlarm
		}
		before, now := *a, s.opts.Clock.Now()
		state, reason, data := f(a)
		if state == before.State {
			return nil
		}
		a.State, a.Reason, a.Data, a.Updated, a.Transitioned = state, reason, data, now, now
		s.note(b, scope, a, stateUpdate, fmt.Sprintf("Alarm updated from %s to %s", before.State, state), map[string]any{"version": "1.0",
			"oldState": stateOf(&before), "newState": stateOf(a)})
		if err := s.announce(b, scope, &before, a, now); err != nil {
			return err
		}
		return s.keep(b, scope, a)
	})
}

func stateOf(a *alarm) map[string]any {
	m := map[string]any{"stateValue": a.State, "stateReason": a.Reason}
	if a.Data != "" {
		m["stateReasonData"] = json.RawMessage(a.Data)
	}
	return m
}

// plain returns JSON without HTML escapes, as CloudWatch writes it.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// announce stores the deliveries that result from an alarm's change: to its actions, and to the default event bus.
func (s *Service) announce(b *documents.Batch, scope aws.Scope, before, a *alarm, now time.Time) error {
	to := map[string][]string{evaluation.OK: a.OK, evaluation.Alarm: a.Alarm,
		evaluation.Insufficient: a.Insufficient}[a.State]
	if !a.Enabled {
		to = nil
	}
	for _, arn := range to {
		body, err := plain(notification(scope, before, a))
		m := delivery.Message{Subject: fmt.Sprintf("%s: %q in %s", a.State, a.Name, regionName(scope.Region))}
		if parsed, _ := aws.ParseARN(arn); parsed.Service == "lambda" {
			body, err = plain(map[string]any{"source": "aws.cloudwatch", "alarmArn": a.ARN, "accountId": scope.Account,
				"time": now.Format(reasonTime), "region": scope.Region, "alarmData": alarmData(before, a)})
		}
		if err != nil {
			return err
		}
		m.Body = string(body)
		if parsed, _ := aws.ParseARN(arn); parsed.Service == "sns" {
			m.ByProtocol = map[string]string{"email": email(scope, before, a, s.opts.Link), "sms": m.Subject}
		}
		if err := s.post(b, pending{scope, a.Name, arn, m, 0, now}); err != nil {
			return err
		}
	}
	bus := scope.ARN("events", "event-bus/default")
	if !s.opts.Targets.Takes(bus) {
		return nil
	}
	detail, err := plain(alarmData(before, a))
	if err != nil {
		return err
	}
	return s.post(b, pending{scope, a.Name, bus, delivery.Message{Body: string(detail), Source: "aws.cloudwatch",
		DetailType: "CloudWatch Alarm State Change", Resources: []string{a.ARN}}, 0, now})
}

func (s *Service) post(b *documents.Batch, p pending) error {
	text, err := json.Marshal(p)
	if err == nil {
		b.Put(s.table, fmt.Sprintf("%s%020d%s", actionKeys, p.Due.UnixNano(), aws.NewID()), text)
	}
	return err
}

// acting returns a context for delivering an alarm's action. Events are sent to the bus without authorization.
func acting(ctx context.Context, p *pending) context.Context {
	to, _ := aws.ParseARN(p.To)
	switch to.Service {
	case "sns":
		return delivery.From(ctx, delivery.Sender{Service: "cloudwatch.amazonaws.com", Source: p.Scope.ARN("cloudwatch",
			"alarm:"+p.Alarm)})
	case "lambda":
		return delivery.From(ctx, delivery.Sender{Service: "lambda.alarms.cloudwatch.amazonaws.com",
			Source: p.Scope.ARN("cloudwatch", "alarm:"+p.Alarm)})
	}
	return ctx
}

// deliver delivers pending actions that are due. A failed delivery is retried a few times, then recorded as failed.
func (s *Service) deliver(ctx context.Context, now time.Time) error {
	const most = 5
	type placed struct {
		key string
		pending
	}
	var due []placed
	if err := s.table.Scan(actionKeys, func(key string, text []byte) error {
		p := placed{key: key}
		if err := json.Unmarshal(text, &p.pending); err != nil {
			return err
		}
		if !p.Due.After(now) {
			due = append(due, p)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, p := range due {
		failure := s.opts.Targets.Deliver(acting(ctx, &p.pending), p.To, &p.Message)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.change(func(b *documents.Batch) error {
			b.Delete(s.table, p.key)
			p.Attempts++
			var refused *aws.Error
			passes := !errors.As(failure, &refused) || refused.ByServer()
			if failure != nil && passes && p.Attempts < most {
				p.Due = now.Add(time.Minute << p.Attempts)
				return s.post(b, p.pending)
			}
			return s.acted(b, &p.pending, failure)
		}); err != nil {
			return err
		}
	}
	return nil
}

// acted records the result of an action.
func (s *Service) acted(b *documents.Batch, p *pending, failure error) error {
	if strings.Contains(p.To, ":event-bus/") {
		return nil
	}
	a, err := s.alarm(p.Scope, p.Alarm)
	if err != nil || a == nil {
		return err
	}
	summary := "Successfully executed action " + p.To
	data := map[string]any{"actionState": "Succeeded", "notificationResource": p.To, "stateUpdateTimestamp": a.Updated.UnixMilli()}
	if failure != nil {
		summary = fmt.Sprintf("Failed to execute action %s. Received error: %q", p.To, failure.Error())
		data["actionState"], data["error"] = "Failed", failure.Error()
		s.opts.Log.Error("an alarm's action failed", "alarm", a.ARN, "action", p.To, "error", failure)
	}
	s.note(b, p.Scope, a, actionDone, summary, data)
	return nil
}

// regionName returns a region's name in notifications.
func regionName(region string) string {
	names := map[string]string{"us-east-1": "US East (N. Virginia)", "us-east-2": "US East (Ohio)", "us-west-1": "US West (N. California)",
		"us-west-2": "US West (Oregon)", "eu-west-1": "EU (Ireland)", "eu-west-2": "EU (London)", "eu-west-3": "EU (Paris)",
		"eu-central-1": "EU (Frankfurt)", "eu-north-1": "EU (Stockholm)", "ap-northeast-1": "Asia Pacific (Tokyo)",
		"ap-northeast-2": "Asia Pacific (Seoul)", "ap-southeast-1": "Asia Pacific (Singapore)", "ap-southeast-2": "Asia Pacific (Sydney)",
		"ap-south-1": "Asia Pacific (Mumbai)", "sa-east-1": "South America (Sao Paulo)", "ca-central-1": "Canada (Central)"}
	if name, ok := names[region]; ok {
		return name
	}
	return region
}

// notification returns the message that an alarm publishes.
func notification(scope aws.Scope, before, a *alarm) map[string]any {
	m := map[string]any{
		"AlarmName": a.Name, "AlarmDescription": orNil(a.Description), "AWSAccountId": scope.Account,
		"AlarmConfigurationUpdatedTimestamp": a.Configured.Format(reasonTime), "NewStateValue": a.State, "NewStateReason": a.Reason,
		"StateChangeTime": a.Transitioned.Format(reasonTime), "Region": regionName(scope.Region), "AlarmArn": a.ARN,
		"OldStateValue": before.State, "OKActions": list(a.OK), "AlarmActions": list(a.Alarm),
		"InsufficientDataActions": list(a.Insufficient),
	}
	if a.Rule != "" {
		m["AlarmRule"], m["TriggeringChildren"] = a.Rule, a.triggeringChildren()
		return m
	}
	trigger := map[string]any{"EvaluationPeriods": a.Periods, "ComparisonOperator": a.Comparison, "Threshold": a.Threshold,
		"TreatMissingData": a.Missing, "EvaluateLowSampleCountPercentile": a.LowSamples}
	if a.Band != "" {
		delete(trigger, "Threshold")
		trigger["ThresholdMetricId"] = a.Band
	}
	if a.Datapoints > 0 {
		trigger["DatapointsToAlarm"] = a.Datapoints
	}
	m["Trigger"] = trigger
	if a.Metric == nil {
		trigger["Period"], trigger["Metrics"] = a.period(), a.Metrics
		return m
	}
	dimensions := []map[string]string{}
	for _, d := range a.Metric.Metric.Dimensions {
		dimensions = append(dimensions, map[string]string{"name": d.Name, "value": d.Value})
	}
	trigger["MetricName"], trigger["Namespace"], trigger["Dimensions"] = a.Metric.Metric.Name, a.Metric.Metric.Namespace, dimensions
	trigger["Period"], trigger["Unit"] = a.Metric.Period, orNil(a.Metric.Unit)
	if described := a.metric(); described.Statistic != "" {
		names := map[string]string{"Average": "AVERAGE", "Sum": "SUM", "Minimum": "MINIMUM", "Maximum": "MAXIMUM", "SampleCount": "SAMPLE_COUNT"}
		trigger["StatisticType"], trigger["Statistic"] = "Statistic", names[described.Statistic]
	} else {
		trigger["StatisticType"], trigger["ExtendedStatistic"] = "ExtendedStatistic", a.Metric.Stat
	}
	return m
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// alarmData returns an alarm's change in the form for events and functions.
func alarmData(before, a *alarm) map[string]any {
	state := func(a *alarm) map[string]any {
		m := map[string]any{"value": a.State, "reason": a.Reason, "timestamp": a.Transitioned.Format(reasonTime)}
		if a.Data != "" {
			m["reasonData"] = a.Data
		}
		return m
	}
	configuration := map[string]any{}
	if a.Description != "" {
		configuration["description"] = a.Description
	}
	switch {
	case a.Rule != "":
		configuration["alarmRule"] = a.Rule
	case a.Metric != nil:
		dimensions := map[string]string{}
		for _, d := range a.Metric.Metric.Dimensions {
			dimensions[d.Name] = d.Value
		}
		configuration["metrics"] = []any{map[string]any{"id": aws.NewID(), "returnData": true, "metricStat": map[string]any{
			"metric": map[string]any{"namespace": a.Metric.Metric.Namespace, "name": a.Metric.Metric.Name, "dimensions": dimensions},
			"period": a.Metric.Period, "stat": a.Metric.Stat}}}
	default:
		configuration["metrics"] = a.Metrics
	}
	return map[string]any{"alarmName": a.Name, "state": state(a), "previousState": state(before), "configuration": configuration}
}
