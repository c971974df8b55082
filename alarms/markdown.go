package alarms

//go:generate go test . -run TestDocsAreCurrent|TestAlarmsAreGolden -update

import (
	"bytes"
	"fmt"
	"io"

	"stepback/retrymetrics"
)

// WriteMarkdown writes docs/alarms.md: every alarm with its numbers.
func WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# Alarms\n\nThis page is generated from package `alarms` by `go generate ./alarms`; do not edit it. The metrics are explained in [metrics.md](metrics.md), and what to do in [operating.md](operating.md#alarms), which the alarms link.\n\n" +
		"Most metrics are published only when something happens, so a period without data is no breach: silence trips no alarm but metrics-silent, which watches the function that a schedule invokes every five minutes.\n\n" +
		"What is the sender's fault wakes nobody: a refused file is told to the topic of the imports' results, rejected rows are in its corrections. An alarm that counts events does not tell when it is OK again, since that mends nothing.\n\n" +
		"## page\n\nThe composite that wakes a person, by the topic of pages: it is in ALARM while one of the alarms below marked *pages* is, or while executions-ended-badly and metrics-silent are at the same time. The paging alarms send no message of their own, so that\n" +
		"one trouble gives one call. The others send a message to the topic of notices.\n")
	seen := map[string]bool{}
	for _, level := range []retrymetrics.Level{retrymetrics.LevelAll, retrymetrics.LevelError} {
		s, err := New(Options{StateMachine: "csv-import", Level: level, MachineARN: "csv-import",
			UndeliveredQueue: "undelivered-events", NotificationQueue: "undelivered-notifications",
			PagesTopic: "pages", NoticesTopic: "notices", ImportsTopic: "imports", MetricsFunction: "metrics",
			AdaptFunction: "adapt", RelayFunction: "relay", Cluster: "database"})
		if err != nil {
			return err
		}
		for _, a := range s.Alarms {
			if !seen[a.Name] {
				seen[a.Name] = true
				a.section(&b, s)
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (a Alarm) section(b *bytes.Buffer, s Set) {
	level := "ERROR and ALL"
	switch {
	case !a.at(Options{StateMachine: s.StateMachine, Level: retrymetrics.LevelError}):
		level = "ALL"
	case s.Level == retrymetrics.LevelError:
		level = "ERROR"
	}
	pages := "sends a message"
	if a.Pages {
		pages = "*pages*"
	}
	fmt.Fprintf(b, "\n## %s\n\n%s **First:** %s\n\n", a.Name, a.Meaning, a.First)
	fmt.Fprintf(b, "`%s` %s %v in %d of %d periods of %v; missing data: %s; log level %s; %s.\n",
		a.watches(), a.Comparison, a.Threshold, a.Breaching, a.Periods, a.Period, a.Missing, level, pages)
}

// watches names the watched quantity.
func (a Alarm) watches() string {
	if a.Rate != nil {
		return a.Rate.Name
	}
	return a.Series.Metric.Name() + ", " + string(a.Stat)
}
