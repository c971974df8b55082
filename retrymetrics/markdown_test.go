package retrymetrics

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes docs/metrics.md: the catalogue, the rates, the metrics that each log level provides, and the
// cost of each level.
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

Step Functions publishes no metrics about retries. stepback counts them from the execution history, which contains every
attempt, including those that no function ever received. On AWS, the function ` + "`lambdas/metrics`" + ` counts them from the
logs of the state machines, through the subscriptions of their log groups; on a laptop they are counted from the
histories themselves. Everything is counted at the event that decides it, while the execution is still running: a
failure when the attempt fails, a retry when it is scheduled, exhausted retries when the state fails or is caught. A
redrive continues the counts; the attempts before it are not counted again. ` + "`serve`" + ` exposes the same counts to Prometheus, from its start on;
[prometheus-objective.rules.yaml](prometheus-objective.rules.yaml) has the alarms of the objective as rules.

The rows by outcome come from AggregateResults, which prints them if ` + "`STATE_MACHINE`" + ` is set. The meaning of each alarm
is in [alarms.md](alarms.md).

The namespace is ` + "`" + Namespace + "`" + `. CloudWatch finds a custom metric only by exactly the dimension set and the
unit with which it was published; dashboards and alarms are built from this table and checked against it. An error name
that is not in the retry table is counted under the ErrorType ` + "`" + OtherError + "`" + `, so that a bug in a function cannot create
new metrics without limit. On a laptop, where metrics cost nothing, the first fifty such names of each state machine
have their own.

`

const ofAWS = `
The configuration of a state machine is published every five minutes on AWS, and with each import on a laptop, so that
it can be compared with the base configuration, that of the retry table.

AWS itself publishes these metrics, which cost nothing:

`

const rates = `
## Rates

Rates are metric math and never published: an average of published rates would weigh a minute with one retry like one
with a thousand.

`

const levels = `
## What a log level tells

At level ALL every event is logged and everything above is counted. At level ERROR Step Functions logs only failures: no
attempts, successes or entries. Failed attempts, throttles, timeouts, an open breaker and failed executions are still
counted, and so are rows by outcome. Retries, recoveries and delays are not, because nothing in the log distinguishes a
retry from a first attempt. The name of the state is not logged either. It is known for the Map's children if these have
one Task state (` + "`CHILD_STATE`" + ` of the function), as in the shapes batch and single; for all others the metrics with
` + "`State`" + ` are omitted. Dashboard and alarms are built for a level, and contain nothing that the level does not log.

At log level ERROR, retry outcomes are reported per row, taken from the results that AggregateResults reads.
` + "`RowsRetried`" + ` has each row that a batch left to be processed one by one, under the error of the batch, and each row that
failed permanently after more than one attempt, under its last error. ` + "`RowsRecovered`" + ` has the rows of the first kind
that were applied. Three things are counted only at level ALL: how many retries a row took that was processed alone and
finally applied, which of its failed attempts were retries (all are in ` + "`TaskFailures`" + `), and how long it waited.

Execution data need not be logged at either level. The function pairs an attempt with the failure before it, which may
be in another batch of the subscription. It keeps open executions in memory, so give it a reserved concurrency of 1.
CloudWatch Logs invokes it asynchronously, so batches can overtake each other. A record whose previous event has not
arrived is held until it does, so the figures are the same in any order. The held data is limited to 10,000 open
executions, 100,000 records, and 15 minutes since the last record of the execution arrived. If records are dropped
beyond that, or lost by a restart of the function, the events after them count without them: an attempt is then not a
retry. ` + "`UnpairedEvents`" + ` counts the missing records. CloudWatch Logs delivers at least once, as best effort: records that
arrive twice are counted once, as long as their execution is among the 10,000 open ones or the 10,000 that ended last.

The function has 1,769 MB, which is one whole processor. Reading takes some 10 µs for each record; an import at level
ALL produces 23,000 to 35,000 records a second.

## The figures of a run's report

` + "`stepback run`" + ` prints these figures and ` + "`--json`" + ` has them all. They cover the complete histories of the import's
execution and its children. A figure under a state and an error is that of the failures with that error: a retry belongs
to the failure before it, whatever its own result. The printed table omits a column that is 0 in every line.

| Figure | JSON | What it is, and when it is counted |
|---|---|---|
| attempts | ` + "`attempts`" + ` | Attempts of tasks that were scheduled: first attempts and retries. |
| | ` + "`succeededAttempts`" + ` | Attempts that succeeded. |
| | ` + "`failedAttempts`" + ` | Attempts that failed or timed out: the sum of all failed. |
| | ` + "`unfinishedAttempts`" + ` | Attempts under way when their execution ended. |
| failed | ` + "`failures`" + ` | Attempts that failed with this error. |
| retried | ` + "`retries`" + ` | Failures that another attempt followed, counted when it is scheduled. |
| not retried | ` + "`notRetried`" + ` | Failures that were given up because no retrier takes the error, or at the task's first attempt. |
| exhausted | ` + "`exhausted`" + ` | Failures that were given up although a retrier takes the error, because it had made all its retries. |
| | ` + "`interrupted`" + ` | Failures after which the execution ended before it was known whether they would be retried. |
| recovered | ` + "`recovered`" + ` | Retries that succeeded. |
| failed again | ` + "`failedAgain`" + ` | Retries that failed, with this error or another. |
| | ` + "`unfinished`" + ` | Retries under way when their execution ended. |
| waited | ` + "`waitedSeconds`" + ` | Delays before the retries, from the failure to the next attempt. Tasks that wait at the same time each count in full, so the sum may be longer than the run. |
| the run took | ` + "`elapsedSeconds`" + ` | Real time, even if the run uses virtual time. |

They always add up:

    attempts = succeededAttempts + failedAttempts + unfinishedAttempts
    failures = retries + notRetried + exhausted + interrupted
    retries  = recovered + failedAgain + unfinished

The duration of attempts is not reported: it includes the time that they queued for a processor or for the database, so
its sum over all children is not a measure of work.

## What it costs in a month

`

func writeCost(b *bytes.Buffer) {
	w, p := DefaultWorkload(), DefaultPrices()
	// The numbers for a month with all task states and a dozen errors.
	const states, errors, pairs, alarmMetrics = 6, 12, 20, 12
	fmt.Fprintf(b, "For %s files of %s rows, imported as deployed: in bulk, in batches of %d, %v %% failed attempts, %d bytes a\n"+
		"record. Prices of %s, %s, in USD, from secondary sources: check before use. Free tiers, volume tiers and the\n"+
		"function's own invocations are not included.\n\n",
		grouped(float64(w.Files)), grouped(float64(w.RowsPerFile)), w.Batch, 100*w.FailedShare, w.RecordBytes, p.Region,
		p.Date)
	b.WriteString("| Item | level ERROR | level ALL |\n|---|---|---|\n")
	pair := func(item string, of func(Level) string) {
		fmt.Fprintf(b, "| %s | %s | %s |\n", item, of(LevelError), of(LevelAll))
	}
	series := func(l Level) float64 { return float64(SeriesCount(l, states, errors, pairs)) }
	pair("log records", func(l Level) string { return grouped(w.Records(l)) })
	pair("log, GB", func(l Level) string { return grouped(w.GB(l)) })
	pair("log ingestion", func(l Level) string { return dollars(w.LogUSD(l, p)) })
	pair(fmt.Sprintf("custom metrics (%d states, %d errors, %d pairs)", states, errors, pairs),
		func(l Level) string { return grouped(series(l)) })
	pair("custom metrics", func(l Level) string { return dollars(series(l) * p.MetricMonth) })
	pair(fmt.Sprintf("alarms, at most %d metrics and 1 composite", alarmMetrics),
		func(Level) string { return dollars(alarmMetrics*p.AlarmMonth + p.PageMonth) })
	pair("**sum**", func(l Level) string {
		return "**" + dollars(w.LogUSD(l, p)+series(l)*p.MetricMonth+alarmMetrics*p.AlarmMonth+p.PageMonth) + "**"
	})
	each := w
	each.Batch, each.Bulk = 100, false
	fmt.Fprintf(b, "\nSo every environment logs at level ALL: retries, delays and the controller's measurements cost %s a month more\n"+
		"than counting failures alone. That holds for the shape bulk, where a batch is one task. In the shape batch, where each\n"+
		"row is a task, the same rows write %s GB for %s; use level ERROR there, or pay for the days of an\n"+
		"investigation.\n", dollars(w.LogUSD(LevelAll, p)-w.LogUSD(LevelError, p)+(series(LevelAll)-series(LevelError))*p.MetricMonth),
		grouped(each.GB(LevelAll)), dollars(each.LogUSD(LevelAll, p)))
}

func dollars(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.2f USD", v)
	}
	return grouped(v) + " USD"
}

// grouped formats a number with thousands separators, and with one decimal below ten.
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
