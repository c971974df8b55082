package asl

import "stepback/jsonvalue"

// QueryLanguage is the expression language of a machine or a state.
type QueryLanguage string

// The two query languages. The default is JSONPath.
const (
	JSONPath QueryLanguage = "JSONPath"
	JSONata  QueryLanguage = "JSONata"
)

// Machine is a whole state machine definition.
type Machine struct {
	Comment       string
	Version       string        // "1.0", also if the definition has none
	QueryLanguage QueryLanguage // JSONPath if the definition has none
	// TimeoutSeconds is the limit of a whole execution in seconds, 1 to 99,999,999; 0 means none.
	TimeoutSeconds int64
	Graph
}

// Graph is one set of states that refer to each other: the machine's top level, a branch of a Parallel state or the
// processor of a Map state.
type Graph struct {
	StartAt string
	States  []*State // in source order
}

// State returns the named state, or nil.
func (g *Graph) State(name string) *State {
	for _, s := range g.States {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Type is one of the eight state types.
type Type string

// The state types.
const (
	Task     Type = "Task"
	Parallel Type = "Parallel"
	Map      Type = "Map"
	Pass     Type = "Pass"
	Wait     Type = "Wait"
	Choice   Type = "Choice"
	Succeed  Type = "Succeed"
	Fail     Type = "Fail"
)

// State is one state with every field of the language. Fields that its type does not have are zero. Fields that may
// hold any JSON are nil if absent. JSONata expressions are stored as strings, as they are written ("{% … %}").
type State struct {
	Name          string
	Type          Type
	Comment       string
	QueryLanguage QueryLanguage // the effective one: the state's own, or else the machine's

	Next string // empty if End is true or the type has no transition itself
	End  bool

	InputPath  Path
	OutputPath Path
	ResultPath Path

	Parameters     *jsonvalue.Value
	ResultSelector *jsonvalue.Value
	Arguments      *jsonvalue.Value
	Output         *jsonvalue.Value
	Assign         *jsonvalue.Value
	Result         *jsonvalue.Value // Pass

	Retry []Retrier
	Catch []Catcher

	// Fields of Task.
	Resource         string
	TimeoutSeconds   Scalar
	HeartbeatSeconds Scalar
	Credentials      *jsonvalue.Value

	// Fields of Choice.
	Choices []Rule
	Default string

	// Fields of Wait. Exactly one of the two is present; each includes its …Path form.
	Seconds   Scalar
	Timestamp Scalar

	// Fields of Fail.
	Error Scalar
	Cause Scalar

	// Fields of Parallel.
	Branches []*Graph

	// Fields of Map.
	Map *MapFields
}

// Path is an optional path field (InputPath, OutputPath, ResultPath). It has three forms: absent, null and a path.
type Path struct {
	Present bool
	Null    bool
	Text    string // the path; empty when absent or null
}

// Scalar is an optional field that has a literal form (possibly a JSONata expression) and, in JSONPath, a …Path form.
// At most one of the two is set.
type Scalar struct {
	Literal *jsonvalue.Value
	Path    string // the text of the …Path field (for ErrorPath and CausePath possibly an intrinsic call)
}

// Present reports whether either form is given.
func (s Scalar) Present() bool { return s.Literal != nil || s.Path != "" }

// Retrier is one element of a Retry array, with AWS's defaults filled in.
type Retrier struct {
	ErrorEquals []string
	// IntervalSeconds is the delay before the first retry, 1 to 99,999,999; default 1.
	IntervalSeconds int64
	// MaxAttempts is the number of retries, 0 to 99,999,999; default 3.
	MaxAttempts int64
	// BackoffRate is the factor by which the delay grows from retry to retry; at least 1, default 2.
	BackoffRate float64
	// MaxDelaySeconds caps the delay, 1 to 31,622,400; 0 means no cap.
	MaxDelaySeconds int64
	// FullJitter is true if JitterStrategy is FULL; the default is NONE.
	FullJitter bool
	Comment    string
}

// Catcher is one element of a Catch array.
type Catcher struct {
	ErrorEquals []string
	Next        string
	ResultPath  Path
	Assign      *jsonvalue.Value
	Output      *jsonvalue.Value // JSONata
	Comment     string
}

// Rule is a choice rule. At the top level Next is set; inside And, Or and Not it is empty. Exactly one of And, Or, Not,
// Operator and Condition is set.
type Rule struct {
	Next    string
	Comment string
	Assign  *jsonvalue.Value
	Output  *jsonvalue.Value // JSONata

	And []Rule
	Or  []Rule
	Not *Rule

	Variable string
	Operator string          // "StringEquals", "NumericLessThanPath", "IsPresent", …
	Operand  jsonvalue.Value // the operator's value; a path string for the …Path operators

	Condition *jsonvalue.Value // JSONata
}

// MapFields are the fields that only a Map state has.
type MapFields struct {
	Processor   *Graph
	Distributed bool   // ProcessorConfig.Mode DISTRIBUTED
	Execution   string // ProcessorConfig.ExecutionType: STANDARD or EXPRESS, distributed only
	Label       string // empty if the definition has none

	ItemsPath    string           // JSONPath; empty means $
	Items        *jsonvalue.Value // JSONata
	ItemSelector *jsonvalue.Value // ItemSelector, or Parameters in its old form

	MaxConcurrency             Scalar
	ToleratedFailureCount      Scalar
	ToleratedFailurePercentage Scalar

	Reader  *ItemReader
	Batcher *ItemBatcher
	Writer  *ResultWriter
}

// ItemReader defines where a distributed Map reads its items.
type ItemReader struct {
	Resource   string
	Parameters *jsonvalue.Value // Parameters, or Arguments in JSONata

	InputType         string // CSV, JSON, JSONL, PARQUET, MANIFEST; empty for a plain listing
	Transformation    string // NONE, LOAD_AND_FLATTEN; empty means NONE
	ManifestType      string // ATHENA_DATA, S3_INVENTORY
	CSVDelimiter      string // COMMA, PIPE, SEMICOLON, SPACE, TAB; empty means COMMA
	CSVHeaderLocation string // FIRST_ROW, GIVEN
	CSVHeaders        []string
	ItemsPointer      string // JSON Pointer
	MaxItems          Scalar
}

// ItemBatcher defines how a distributed Map groups items into child executions.
type ItemBatcher struct {
	MaxItemsPerBatch      Scalar
	MaxInputBytesPerBatch Scalar
	BatchInput            *jsonvalue.Value
}

// ResultWriter defines where a distributed Map writes its results.
type ResultWriter struct {
	Resource       string           // empty if results are not exported
	Parameters     *jsonvalue.Value // Parameters, or Arguments in JSONata
	Transformation string           // NONE, COMPACT, FLATTEN; empty means the default
	OutputType     string           // JSON, JSONL; empty means JSON
}
