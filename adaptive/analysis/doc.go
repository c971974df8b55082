// Package analysis says what retries have brought and cost, from the histories of executions, and what another
// Retry block would have brought.
//
// A [Collector] takes histories ([Collector.AddHistory]) or tasks ([Collector.Add]). [Collector.Analyze] answers, for
// each state and each error that a task failed with first: how often each retry recovered, with intervals that know
// that failures of one outage are not independent; which retry stops paying; what was waited, paid and asked of the
// callee; and what to change, with the evidence. [Collector.WhatIf] replays the record under another Retry block and
// names the level of its answer: exact, bracketed or modelled.
//
// The package is pure: it reads no files, calls nothing and looks at no clock. adaptive/analysis/histories reads the
// histories of data directories and of endpoints.
package analysis
