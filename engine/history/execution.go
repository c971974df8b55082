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
	// VersionARN and AliasARN are the version and alias by which the execution was started; empty if it was started
	// by the state machine's own ARN.
	VersionARN string `json:"stateMachineVersionArn,omitempty"`
	AliasARN   string `json:"stateMachineAliasArn,omitempty"`
	// Revision is the caller's own name for the revision of the state machine; the engine only stores it. The same
	// applies to TraceHeader.
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

// Info describes an execution. It stays the same from start to end, and after a redrive.
type Info struct {
	ARN        string `json:"executionArn"`
	MachineARN string `json:"stateMachineArn"`
	Express    bool   `json:"express,omitempty"`
	Origin
	// Definition is the ID of the definition that the execution runs; empty for a child execution, which runs a part
	// of its parent's.
	Definition string `json:"definition,omitempty"`
	// MapRunARN is the Map Run of a child execution; empty for all others. FirstItem and Items are its range of the
	// Map Run's items: the index of the first one, and their number.
	MapRunARN string `json:"mapRunArn,omitempty"`
	FirstItem int64  `json:"firstItem,omitempty"`
	Items     int64  `json:"itemCount,omitempty"`
	// LastItem identifies the last of them if the items are a listing, so that a changed listing is detected.
	LastItem string `json:"lastItem,omitempty"`
}

// ExecutionARN returns the ARN of a STANDARD execution. For child executions of a distributed Map, machineARN is
// labelled (machine/label).
func ExecutionARN(machineARN, name string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":execution:", 1) + ":" + name
}

// ExpressARN returns the ARN of an EXPRESS execution, which is not identified by its name alone.
func ExpressARN(machineARN, name, id string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":express:", 1) + ":" + name + ":" + id
}
