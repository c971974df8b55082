// Package analysis computes from the histories of executions what retries have brought and cost, and what another
// Retry block would have brought.
//
// A [Collector] takes histories ([Collector.AddHistory]) or tasks ([Collector.Add]). For each state and each error
// that a task failed with first, [Collector.Analyze] reports how often each retry recovered, with intervals that take
// into account that failures of one outage are not independent; which retry stops paying; the waits, the costs and
// the load on the callee; and what to change, with the evidence. [Collector.WhatIf] replays the record under another
// Retry block and names the level of its answer: exact, bracketed or modelled.
//
// The package is pure: it reads no files, makes no calls and reads no clock. adaptive/analysis/histories reads the
// histories of data directories and of endpoints.
package analysis
