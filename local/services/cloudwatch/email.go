package cloudwatch

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"stepback/aws"
	"stepback/internal/lazyregexp"
)

// longTime is the form of times in e-mails and in the reasons of composite alarms.
const longTime = "Monday 02 January, 2006 15:04:05 UTC"

// child is an alarm in the rule of a composite alarm whose state led to the composite's.
type child struct {
	ARN   string     `json:"arn"`
	State childState `json:"state"`
}

type childState struct {
	Value     string `json:"value"`
	Timestamp string `json:"timestamp"`
}

// triggering returns the alarms that led to a composite alarm's state.
func (a *alarm) triggering() []child {
	var data struct {
		Alarms []child `json:"triggeringAlarms"`
	}
	if json.Unmarshal([]byte(a.Data), &data) != nil {
		return nil
	}
	return data.Alarms
}

// triggeringChildren returns the triggering alarms as a notification lists them.
func (a *alarm) triggeringChildren() []map[string]any {
	triggering := a.triggering()
	children := make([]map[string]any, 0, len(triggering))
	for _, c := range triggering {
		children = append(children, map[string]any{"Arn": c.ARN,
			"State": map[string]string{"Value": c.State.Value, "Timestamp": c.State.Timestamp}})
	}
	return children
}

// addresses matches URLs in a text.
var addresses = lazyregexp.New(`https://[^\s<>"']+[^\s<>"'.,;:)\]]`)

// email returns the text of the e-mail about an alarm's change, as CloudWatch writes it for the protocol email. Links
// to the AWS Management Console are replaced by link; with a nil link, the one to the alarm is left out.
func email(scope aws.Scope, before, a *alarm, link func(string) string) string {
	var b strings.Builder
	description := a.Description
	if link != nil {
		description = addresses.ReplaceAllStringFunc(description, link)
	}
	at := a.Transitioned.UTC().Format(longTime)
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "- %-27s %s\n", name+":", fmt.Sprintf(format, values...))
	}
	fmt.Fprintf(
		&b,
		"You are receiving this email because your Amazon CloudWatch Alarm %q in the %s region has ",
		a.Name,
		regionName(scope.Region),
	)
	if a.Rule == "" {
		fmt.Fprintf(&b, "entered the %s state, because %q at %q.\n", a.State, a.Reason, at)
	} else {
		fmt.Fprintf(&b, "transitioned to %s state on %s, because %q.\n", a.State, at, a.Reason)
	}
	if link != nil {
		fmt.Fprintf(&b, "\nView this alarm in the console:\n%s\n", link("https://"+scope.Region+
			".console.aws.amazon.com/cloudwatch/home?region="+scope.Region+"#alarmsV2:alarm/"+url.PathEscape(a.Name)))
	}
	b.WriteString("\nAlarm Details:\n")
	line("Name", "%s", a.Name)
	if description != "" {
		line("Description", "%s", description)
	}
	line("State Change", "%s -> %s", before.State, a.State)
	if a.Rule != "" {
		line("Alarm Rule", "%s", a.Rule)
	}
	line("Reason for State Change", "%s", a.Reason)
	line("Timestamp", "%s", at)
	line("AWS Account", "%s", scope.Account)
	line("Alarm Arn", "%s", a.ARN)
	if a.Rule == "" {
		a.watched(&b)
	} else {
		a.children(&b)
	}
	b.WriteString("\nState Change Actions:\n")
	for _, to := range []struct {
		state   string
		actions []string
	}{{"OK", a.OK}, {"ALARM", a.Alarm}, {"INSUFFICIENT_DATA", a.Insufficient}} {
		fmt.Fprintf(&b, "- %s: ", to.state)
		for _, arn := range to.actions {
			fmt.Fprintf(&b, "[%s] ", arn)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// watched writes what a metric alarm watches.
func (a *alarm) watched(b *strings.Builder) {
	line := func(name, value string) { fmt.Fprintf(b, "- %-36s %s\n", name+":", value) }
	threshold, of := decimal(a.Threshold), max(a.Datapoints, 1)
	if a.Datapoints == 0 {
		of = a.Periods
	}
	if a.Band != "" {
		threshold = a.Band
	}
	fmt.Fprintf(
		b,
		"\nThreshold:\n- The alarm is in the ALARM state when the metric is %s %s for at least %d of the last %d period(s) "+
			"of %d seconds.\n\nMonitored Metric:\n",
		a.Comparison,
		threshold,
		of,
		a.Periods,
		a.period(),
	)
	metric := func(m *metricStat) {
		dimensions := make([]string, 0, len(m.Metric.Dimensions))
		for _, d := range m.Metric.Dimensions {
			dimensions = append(dimensions, d.Name+" = "+d.Value)
		}
		unit := m.Unit
		if unit == "" {
			unit = "not specified"
		}
		line("MetricNamespace", m.Metric.Namespace)
		line("MetricName", m.Metric.Name)
		line("Dimensions", "["+strings.Join(dimensions, ", ")+"]")
		line("Period", fmt.Sprintf("%d seconds", m.Period))
		line("Statistic", m.Stat)
		line("Unit", unit)
	}
	if a.Metric != nil {
		metric(a.Metric)
	}
	for i := range a.Metrics {
		q := &a.Metrics[i]
		if q.MetricStat != nil {
			line("MetricId", q.ID)
			metric(q.MetricStat)
			continue
		}
		line("MetricExpression", q.Expression)
		if q.Label != "" {
			line("MetricLabel", q.Label)
		}
	}
	missing := a.Missing
	if missing == "" {
		missing = "missing"
	}
	line("TreatMissingData", missing)
}

// children writes the alarms that led to a composite alarm's state.
func (a *alarm) children(b *strings.Builder) {
	const most = 10
	b.WriteString("\nTriggering children (max. 10):\n")
	for i, c := range a.triggering() {
		if i == most {
			break
		}
		at := c.State.Timestamp
		if t, err := time.Parse(reasonTime, at); err == nil {
			at = t.UTC().Format(longTime)
		}
		fmt.Fprintf(b, "- %s transitioned to %s at %s\n", c.ARN, c.State.Value, at)
	}
}
