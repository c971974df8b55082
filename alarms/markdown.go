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
	b.WriteString("# Alarms\n\n" +
		"This page is generated from package `alarms` by `go generate ./alarms`; do not edit it. [metrics.md](metrics.md)\n" +
		"explains the metrics. [operating.md](operating.md#alarms), to which the alarms link, says what to do.\n\n" +
		"Most metrics are published only when something happens, so a period without data is not breaching: missing data triggers\n" +
		"only metrics-silent, which watches the function that a schedule invokes every five minutes.\n\n" +
		"Bad input pages no one: the result of a rejected file goes to the import-results topic, and rejected rows are in the\n" +
		"corrections file. An alarm that counts events sends no OK message, because the failures it reported still need attention.\n\n" +
		"## page\n\n" +
		"This composite alarm pages the on-call engineer through the topic of pages. It is in ALARM when any alarm marked *pages*\n" +
		"is, or when executions-ended-badly and metrics-silent both are. The paging alarms send no message of their own, so that\n" +
		"one incident causes one call. The others send a message to the topic of notices.\n")
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

// watches returns the name of the watched quantity.
func (a Alarm) watches() string {
	if a.Rate != nil {
		return a.Rate.Name
	}
	return a.Series.Metric.Name() + ", " + string(a.Stat)
}
