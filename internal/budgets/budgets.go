// Package budgets lists the limits that bound the work and the memory of a single request, expression or operation,
// so that no input can stop the process. Each limit is enforced in one place, which reads it from here.
//
// Quotas that only mirror AWS's, such as the 256 KiB of a payload, are not budgets: they stay with their service.
package budgets

//go:generate go test . -run TestPage -update

// Budget is one limit.
type Budget struct {
	// Bounds says what the limit bounds.
	Bounds string
	Value  int
	// Unit is the unit of Value.
	Unit string
	// Source is the page or measurement that the value comes from.
	Source string
	// Enforced is the file that enforces the limit, as a path in this repository.
	Enforced string
}

// The budgets, in the order of the documentation.
var (
	ExpressionDepth = &Budget{"Nesting of a JSONata expression's evaluation", 100, "levels",
		"measured at Step Functions: a sum of 95 terms succeeds, one of 200 overflows the stack",
		"asl/expression/limits.go"}
	ExpressionSteps = &Budget{"Work of a JSONata expression", 5_000_000, "steps (a node evaluated, 4 elements copied or 16 bytes of text built)",
		"own: about a second of CPU time", "asl/expression/limits.go"}
	ExpressionMemory = &Budget{"A text or array (8 bytes for each element) that a JSONata expression builds", 873_782 * 8, "bytes",
		"measured at Step Functions: [1..873782] is the longest range", "asl/expression/limits.go"}
	PathVisits = &Budget{"Work of a JSONPath, its filters and functions included", 16_000_000, "nodes visited",
		"own: about a second of CPU time", "asl/jsonpath/evaluation.go"}
	PathText = &Budget{"The text that the path function concat() builds", 4 << 20, "bytes", "own: 16 times a payload",
		"asl/jsonpath/function_collection.go"}
	IntrinsicText = &Budget{"The text that an intrinsic function builds", 4 << 20, "bytes", "own: 16 times a payload",
		"asl/intrinsic/format.go"}
	StateWork = &Budget{"Work of all expressions and paths of one state together", 20_000_000, "steps",
		"own: about three seconds of CPU time; StopExecution, a timeout and a shutdown interrupt it", "engine/internal/interpreter/execution.go"}
	PatternWork = &Budget{"Matching a text with a pattern that has lookarounds, such as an AllowedPattern", 16_000_000,
		"characters compared", "own: less than a second of CPU time", "aws/javapattern/lookaround.go"}
	Stacks = &Budget{"CloudFormation stacks of an account and region, nested ones included", 2000, "stacks",
		"AWS CloudFormation User Guide, \"Understand CloudFormation quotas\"", "local/services/cloudformation/service.go"}
	StackNesting = &Budget{"Stacks around a nested stack", 32, "stacks",
		"own: AWS documents none; a template that names itself would otherwise use up the stacks of the account",
		"local/services/cloudformation/service.go"}
	MetricCells = &Budget{"Values that a GetMetricData request computes, a metric's and an expression's at each period", 500_000, "values",
		"own: about a second of CPU time; five times the 100,800 data points that AWS returns",
		"local/services/cloudwatch/metricview.go"}
	InsightsWork = &Budget{"Work of a Logs Insights query", 2 << 30, "bytes read and built", "own: a few seconds of CPU time",
		"local/services/logs/queries.go"}
	InsightsScan = &Budget{"Log events that a Logs Insights query reads", 512 << 20, "bytes of messages", "own",
		"local/services/logs/queries.go"}
	InsightsMemory = &Budget{"Fields of the rows of a Logs Insights query", 256 << 20, "bytes", "own",
		"local/services/logs/queries.go"}
	InsightsText = &Budget{"A value of a Logs Insights query", 1 << 20, "bytes",
		"AWS CloudWatch Logs User Guide, \"CloudWatch Logs quotas\": events of at most 1 MB", "local/services/logs/queries.go"}
	InsightsResult = &Budget{"Results of a Logs Insights query", 32 << 20, "bytes", "own", "local/services/logs/queries.go"}
	InsightsKept   = &Budget{"Results of finished Logs Insights queries that are kept", 128 << 20, "bytes",
		"own: the oldest are forgotten first", "local/services/logs/queries.go"}
)

// All returns the budgets in the order of the documentation.
func All() []*Budget {
	return []*Budget{ExpressionDepth, ExpressionSteps, ExpressionMemory, PathVisits, PathText, IntrinsicText, StateWork,
		PatternWork,
		Stacks,
		StackNesting, MetricCells, InsightsWork, InsightsScan, InsightsMemory, InsightsText, InsightsResult,
		InsightsKept}
}
