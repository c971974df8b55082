package main

import (
	"stepback/cmd/stepback/workspace"
)

// travelling lists the verbs that another process can run, by their names in requests.
var travelling = map[string]func() workspace.DirectoryVerb{
	"run":              func() workspace.DirectoryVerb { return new(runCmd) },
	"executions":       func() workspace.DirectoryVerb { return new(executionsCmd) },
	"describe":         func() workspace.DirectoryVerb { return new(describeCmd) },
	"history":          func() workspace.DirectoryVerb { return new(historyCmd) },
	"graph":            func() workspace.DirectoryVerb { return new(graphCmd) },
	"logs":             func() workspace.DirectoryVerb { return new(logsCmd) },
	"inbox list":       func() workspace.DirectoryVerb { return new(inboxListCmd) },
	"inbox show":       func() workspace.DirectoryVerb { return new(inboxShowCmd) },
	"chaos add":        func() workspace.DirectoryVerb { return new(chaosAddCmd) },
	"chaos list":       func() workspace.DirectoryVerb { return new(chaosListCmd) },
	"chaos lift":       func() workspace.DirectoryVerb { return new(chaosLiftCmd) },
	"retries analyze":  func() workspace.DirectoryVerb { return new(retriesAnalyzeCmd) },
	"retries whatif":   func() workspace.DirectoryVerb { return new(retriesWhatifCmd) },
	"dashboard render": func() workspace.DirectoryVerb { return new(dashboardRenderCmd) },
	"data check":       func() workspace.DirectoryVerb { return new(dataCheckCmd) },
	"data compact":     func() workspace.DirectoryVerb { return new(dataCompactCmd) },
	"data repair":      func() workspace.DirectoryVerb { return new(dataRepairCmd) },
	"data export":      func() workspace.DirectoryVerb { return new(dataExportCmd) },
}
