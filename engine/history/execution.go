package history

import "strings"

// Status is an execution's status in the API's spelling.
type Status string

// The statuses of executions and Map Runs.
const (
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	TimedOut  Status = "TIMED_OUT"
	Aborted   Status = "ABORTED"
)

// Origin is the part of an execution's Info that its caller chooses.
type Origin struct {
	Name string `json:"name"`
	// VersionARN and AliasARN are the version and alias through which the execution was started. They are empty if
	// it was started by the state machine's own ARN.
	VersionARN string `json:"stateMachineVersionArn,omitempty"`
	AliasARN   string `json:"stateMachineAliasArn,omitempty"`
	// Revision is the caller's own name for the revision of the state machine; for a durable execution it is the text
	// of its DurableConfig. The engine only stores Revision and TraceHeader.
	Revision    string `json:"revision,omitempty"`
	TraceHeader string `json:"traceHeader,omitempty"`
	// Sync is true if the caller waits for the end of the EXPRESS execution. In that case the context object has no
	// RedriveCount.
	Sync bool `json:"sync,omitempty"`
	// Input is the JSON text of the input.
	Input string `json:"input"`
	// TestCase is the test case by which the execution's tasks are mocked; empty means that they are not.
	TestCase string `json:"testCase,omitempty"`
}

// Info describes an execution. It does not change while the execution runs, nor when it is redriven.
type Info struct {
	ARN        string `json:"executionArn"`
	MachineARN string `json:"stateMachineArn"`
	Express    bool   `json:"express,omitempty"`
	Origin
	// Definition is the ID of the definition that the execution runs; empty for a child execution, which runs a part
	// of its parent's.
	Definition string `json:"definition,omitempty"`
	// MapRunARN is the Map Run of a child execution; empty for other executions. FirstItem and Items are the range
	// of the Map Run's items that the child execution processes: the index of the first item, and the number of
	// items.
	MapRunARN string `json:"mapRunArn,omitempty"`
	FirstItem int64  `json:"firstItem,omitempty"`
	Items     int64  `json:"itemCount,omitempty"`
	// LastItem identifies the last item of the range if the items are a listing, so that a changed listing is
	// detected.
	LastItem string `json:"lastItem,omitempty"`
}

// ExecutionARN returns the ARN of a STANDARD execution. For a child execution of a distributed Map, machineARN
// contains the label (machine/label). The ARN of an execution does not contain the version or alias that it was started
// by, so machineARN may be qualified.
func ExecutionARN(machineARN, name string) string {
	return strings.Replace(Unqualified(machineARN), ":stateMachine:", ":execution:", 1) + ":" + name
}

// Unqualified returns the ARN of the state machine that a version or an alias belongs to. Any other ARN is returned
// unchanged.
func Unqualified(machineARN string) string {
	const name = 6 // arn:aws:states:REGION:ACCOUNT:stateMachine:NAME:QUALIFIER
	if parts := strings.Split(machineARN, ":"); len(parts) > name+1 && parts[name-1] == "stateMachine" {
		return strings.Join(parts[:name+1], ":")
	}
	return machineARN
}

// ExpressARN returns the ARN of an EXPRESS execution. Its name alone does not identify it, so the ARN also contains
// id.
func ExpressARN(machineARN, name, id string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":express:", 1) + ":" + name + ":" + id
}
