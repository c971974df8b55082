package main

// travelling lists the verbs that another process can run, by their names in requests.
var travelling = map[string]func() directoryVerb{
	"run":              func() directoryVerb { return new(runCmd) },
	"executions":       func() directoryVerb { return new(executionsCmd) },
	"describe":         func() directoryVerb { return new(describeCmd) },
	"history":          func() directoryVerb { return new(historyCmd) },
	"graph":            func() directoryVerb { return new(graphCmd) },
	"logs":             func() directoryVerb { return new(logsCmd) },
	"inbox list":       func() directoryVerb { return new(inboxListCmd) },
	"inbox show":       func() directoryVerb { return new(inboxShowCmd) },
	"chaos add":        func() directoryVerb { return new(chaosAddCmd) },
	"chaos list":       func() directoryVerb { return new(chaosListCmd) },
	"chaos lift":       func() directoryVerb { return new(chaosLiftCmd) },
	"retries analyze":  func() directoryVerb { return new(retriesAnalyzeCmd) },
	"retries whatif":   func() directoryVerb { return new(retriesWhatifCmd) },
	"dashboard render": func() directoryVerb { return new(dashboardRenderCmd) },
	"data check":       func() directoryVerb { return new(dataCheckCmd) },
	"data compact":     func() directoryVerb { return new(dataCompactCmd) },
	"data repair":      func() directoryVerb { return new(dataRepairCmd) },
	"data export":      func() directoryVerb { return new(dataExportCmd) },
}
