package retrymetrics

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes docs/metrics.md: the catalogue, the rates, what each log level tells and what it costs.
func WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(intro)
	b.WriteString("| Metric | Unit | Statistic | Counted from | Dimension sets | What one value is |\n|---|---|---|---|---|---|\n")
	for _, m := range catalogue {
		var in []string
		for _, s := range m.sets {
			in = append(in, s.String())
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", m.name, m.unit, m.stat, m.origin,
			strings.Join(in, "<br>"), m.text)
	}
	b.WriteString(ofAWS)
	b.WriteString("| Metric | Namespace | Unit | Statistic | Dimension sets | What one value is |\n|---|---|---|---|---|---|\n")
	for _, m := range vendedMetrics {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s |\n", m.name, m.namespace, m.unit, m.stat, m.sets[0], m.text)
	}
	b.WriteString(rates)
	b.WriteString("| Rate | Unit | Expression | What it is |\n|---|---|---|---|\n")
	for _, r := range Rates() {
		text := r.Expression
		for _, t := range r.Terms {
			text = strings.ReplaceAll(text, t.ID, t.Metric.name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", r.Name, r.Unit, text, r.Description)
	}
	b.WriteString(levels)
	writeCost(&b)
	_, err := w.Write(b.Bytes())
	return err
}

const intro = `# Metrics

This page is generated from package ` + "`retrymetrics`" + ` by ` + "`go generate ./retrymetrics`" + `; do not edit it.

Step Functions publishes no metric of retries. These are counted from the execution history, which has every attempt, also those
that no function ever saw: on AWS from the state machine's log, by the function ` + "`lambdas/metrics`" +
	` on the log group's
subscription; on a laptop from the histories themselves. The rows by outcome come from AggregateResults, which prints them when
` + "`STATE_MACHINE`" + ` is set. What each alarm means is in [alarms.md](alarms.md).

The namespace is ` + "`" + Namespace + "`" +
	`. CloudWatch finds a custom metric by exactly a dimension set that it was published with and by its
unit; dashboards and alarms are built from this table and checked against it. An error name that the retry table does not know
is counted under the ErrorType ` + "`" + OtherError + "`" +
	`, so that no bug in a function can make up new metrics without end.

`

const ofAWS = `
How a state machine is configured is published every five minutes on AWS, and with each import on a laptop, so that it can be
compared with the base configuration, that of the retry table.

Two more metrics come from AWS itself and cost nothing:

`

const rates = `
## Rates

Rates are metric math and never published: the average of published rates would weigh a minute with one retry like one with a thousand.

`

const levels = `
## What a log level tells

At level ALL every event is logged and everything above is counted. At level ERROR Step Functions logs failures only: no attempt,
success or entry. Failed attempts, throttles, timeouts, an open breaker and failed executions are still counted, and rows by
outcome as ever; retries, recoveries and delays are not, for nothing in the log tells a retry from a first attempt. The name of
the state is not logged either; it is known for the Map's children, which have one Task state (` + "`CHILD_STATE`" +
	` of the function), and the
metrics with ` + "`State`" + ` are left out for the others. Dashboard and alarms are built for a level, and hold nothing that the level cannot tell.

Execution data need not be logged at either level. The function pairs an attempt with the failure before it, which may be in an
earlier batch of the subscription: it keeps open executions in memory, so give it a reserved concurrency of 1. Attempts whose
beginning it did not see, after a restart for example, are counted as ` + "`UnpairedEvents`" +
	` and never as retries. The subscription delivers
at least once: records that come twice are counted once as long as their execution is open in memory.

## What it costs in a month

`

func writeCost(b *bytes.Buffer) {
	w, p := DefaultWorkload(), DefaultPrices()
	// A month with all task states and a dozen errors.
	const states, errors, pairs, alarmMetrics = 6, 12, 20, 12
	fmt.Fprintf(b, "For %s files of %s rows, batches of %d, %v %% failed attempts, %d bytes a record; prices of %s, %s, in USD, from secondary\n"+
		"sources: check before use. Free tiers, volume tiers and the function's own invocations are not in it.\n\n",
		grouped(float64(w.Files)), grouped(float64(w.RowsPerFile)), w.Batch, 100*w.FailedShare, w.RecordBytes, p.Region,
		p.Date)
	b.WriteString("| Item | level ERROR | level ALL |\n|---|---|---|\n")
	pair := func(item string, of func(Level) string) {
		fmt.Fprintf(b, "| %s | %s | %s |\n", item, of(LevelError), of(LevelAll))
	}
	series := func(l Level) float64 { return float64(SeriesCount(l, states, errors, pairs)) }
	pair("log records", func(l Level) string { return grouped(w.Records(l)) })
	pair("log, GB", func(l Level) string { return grouped(w.GB(l)) })
	pair("log ingestion", func(l Level) string { return dollars(w.GB(l) * p.LogGB) })
	pair(fmt.Sprintf("custom metrics (%d states, %d errors, %d pairs)", states, errors, pairs),
		func(l Level) string { return grouped(series(l)) })
	pair("custom metrics", func(l Level) string { return dollars(series(l) * p.MetricMonth) })
	pair(fmt.Sprintf("alarms, at most %d metrics and 1 composite", alarmMetrics),
		func(Level) string { return dollars(alarmMetrics*p.AlarmMonth + p.PageMonth) })
	pair("**sum**", func(l Level) string {
		return "**" + dollars(w.GB(l)*p.LogGB+series(l)*p.MetricMonth+alarmMetrics*p.AlarmMonth+p.PageMonth) + "**"
	})
	rows := float64(w.Files) * float64(w.RowsPerFile)
	fmt.Fprintf(b, "\nFor comparison: one state transition for each row alone costs %s.\n\n",
		dollars(rows/1000*p.Transitions))
	b.WriteString("So level ERROR is the one for production at this size: what it costs grows with what fails and not with what is imported. Take level ALL\n" +
		"in development and staging, and in production for the days of an investigation.\n")
}

func dollars(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.2f USD", v)
	}
	return grouped(v) + " USD"
}

// grouped writes a number with commas, with one decimal below ten.
func grouped(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
