package alarms

//go:generate go test . -run TestDocsAreCurrent|TestAlarmsAreGolden -update

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"time"

	"stepback/retrymetrics"
)

// judged is the table that TestPagesAreJudged computes.
//
//go:embed judged.md
var judged string

// WriteMarkdown writes docs/alarms.md: every alarm with its numbers.
func WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# Alarms\n\n" +
		"This page is generated from package `alarms` by `go generate ./alarms`; do not edit it. [metrics.md](metrics.md)\n" +
		"explains the metrics. [operating.md](operating.md#alarms), to which the alarms link, says what to do.\n\n" +
		"Most metrics are published only when something happens, so a period without data is not breaching. Only metrics-silent\n" +
		"reports missing data: it watches the function that a schedule invokes each minute, and sends its message when it\n" +
		"enters INSUFFICIENT_DATA. A new alarm is in that state, so a first deployment reports nothing.\n\n" +
		"Bad input pages no one: the result of a rejected file goes to the import-results topic, and rejected rows are in the\n" +
		"corrections file. A message about a recovery is sent when an alarm turns from ALARM to OK; an alarm that counts events\n" +
		"sends none, because the failures it reported still need attention.\n\n" +
		"Each kind of trouble that pages has a composite alarm, so that one incident causes one call, and a second trouble of\n" +
		"another kind still pages ([decision 065](decisions/065-objective-and-pages.md)). The alarms of a composite send no\n" +
		"message of their own. The others send a message to the topic of notices.\n\n" +
		"The objective: " + retrymetrics.DefaultObjective().String() + ". The budget-… alarms watch how\n" +
		"fast its error budget burns, over a long and a short window; only both together page or send a message.\n\n" +
		"## Pages by thresholds and by the objective, judged\n\n" +
		"Twelve faults of the database and 28 calm days, simulated by the laboratory with what is deployed (limiter, shared\n" +
		"breaker, waiting, controller) while twelve batches of 250 rows a minute arrive. The histories are counted by the code\n" +
		"that counts on AWS, and every alarm is evaluated over the metrics (`TestPagesAreJudged` in `alarms`). Times count from\n" +
		"the beginning of the fault. On calm days three batches a minute arrive, one call in a hundred\n" +
		"fails, and once a day every call for 20 seconds.\n\n" +
		judged +
		"\nEach fault that uses 2 % of the budget is paged by the objective within ten minutes of that moment, and calm days are\n" +
		"not paged at all. Pages by thresholds come sooner if the callee is down, because the circuit breaker is open after\n" +
		"15 seconds (105 if the outage begins with the first calls), and a batch is late only 15 minutes after its start.\n" +
		"They also come for outages that make no batch late, and later where the breaker stays closed. So both are kept.\n" +
		"The alarm circuit-breaker-open needs three minutes with data. The functions print the circuit's state when they\n" +
		"are called, and a few batches that wait for an open circuit call none for up to five minutes. So in the stack the\n" +
		"function metrics publishes each minute that the circuit is open, if an execution runs.\n" +
		"The table does without that, because its batches are many.\n")
	s, err := documented(retrymetrics.LevelAll)
	if err != nil {
		return err
	}
	for _, c := range s.Composites() {
		to := "sends a message"
		if c.Pages {
			to = "*pages*"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s **First:** %s\n\nComposite: `%s`; %s.\n", c.Name, c.Meaning, c.First,
			strings.ReplaceAll(c.Rule, "csv-import-", ""), to)
	}
	seen := map[string]bool{}
	for _, level := range []retrymetrics.Level{retrymetrics.LevelAll, retrymetrics.LevelError} {
		s, err := documented(level)
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
	_, err = w.Write(b.Bytes())
	return err
}

// documented returns every alarm of the CSV import at a log level.
func documented(level retrymetrics.Level) (Set, error) {
	return New(Options{StateMachine: "csv-import", Level: level, MachineARN: "csv-import", Timeout: 24 * time.Hour,
		FilesMachine: "csv-import-files", FilesMachineARN: "csv-import-files", FilesTimeout: 14 * 24 * time.Hour,
		UndeliveredQueue: "undelivered-events", NotificationQueue: "undelivered-notifications",
		PagesTopic: "pages", NoticesTopic: "notices", ImportsTopic: "imports", MetricsFunction: "metrics",
		AdaptFunction: "adapt", RelayFunction: "relay", PruneFunction: "prune", TrainFunction: "train", Cluster: "database"})
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
	switch {
	case a.Page != "":
		pages = "*pages* by " + string(a.Page)
	case a.Part:
		pages = "part of a composite"
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
