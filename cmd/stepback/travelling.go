//go:build !checks

package main

import (
	"stepback/cmd/stepback/data"
	"stepback/cmd/stepback/imports"
	"stepback/cmd/stepback/operate"
	"stepback/cmd/stepback/retries"
	"stepback/cmd/stepback/serve"
	"stepback/cmd/stepback/workspace"
)

// travelling lists the verbs that another process can run, by their names in requests.
var travelling = map[string]func() workspace.DirectoryVerb{
	"run":              func() workspace.DirectoryVerb { return new(imports.Run) },
	"executions":       func() workspace.DirectoryVerb { return new(operate.Executions) },
	"describe":         func() workspace.DirectoryVerb { return new(operate.Describe) },
	"history":          func() workspace.DirectoryVerb { return new(operate.History) },
	"graph":            func() workspace.DirectoryVerb { return new(operate.Graph) },
	"logs":             func() workspace.DirectoryVerb { return new(operate.Logs) },
	"inbox list":       func() workspace.DirectoryVerb { return new(operate.InboxList) },
	"inbox show":       func() workspace.DirectoryVerb { return new(operate.InboxShow) },
	"chaos add":        func() workspace.DirectoryVerb { return new(serve.ChaosAdd) },
	"chaos list":       func() workspace.DirectoryVerb { return new(serve.ChaosList) },
	"chaos lift":       func() workspace.DirectoryVerb { return new(serve.ChaosLift) },
	"hold":             func() workspace.DirectoryVerb { return new(operate.Hold) },
	"limit":            func() workspace.DirectoryVerb { return new(operate.Limit) },
	"retry-now":        func() workspace.DirectoryVerb { return new(operate.RetryNow) },
	"release":          func() workspace.DirectoryVerb { return new(operate.Release) },
	"retries analyze":  func() workspace.DirectoryVerb { return new(retries.Analyze) },
	"retries design":   func() workspace.DirectoryVerb { return new(retries.Design) },
	"retries whatif":   func() workspace.DirectoryVerb { return new(retries.Whatif) },
	"dashboard render": func() workspace.DirectoryVerb { return new(retries.DashboardRender) },
	"predict examples": func() workspace.DirectoryVerb { return new(retries.PredictExamples) },
	"data check":       func() workspace.DirectoryVerb { return new(data.Check) },
	"data compact":     func() workspace.DirectoryVerb { return new(data.Compact) },
	"data repair":      func() workspace.DirectoryVerb { return new(data.Repair) },
	"data export":      func() workspace.DirectoryVerb { return new(data.Export) },
}
