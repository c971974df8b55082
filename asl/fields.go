package asl

import "strings"

// fields lists the members that an object of the language may have, in the order in which they are shown to users.
type fields struct {
	what     string // "a Task state", "a retrier"
	names    []string
	language map[string]QueryLanguage // empty: both
}

func newFields(what, both, jsonPath, jsonata string) *fields {
	f := &fields{what: what, language: map[string]QueryLanguage{}}
	add := func(names string, language QueryLanguage) {
		for _, n := range strings.Fields(names) {
			f.names = append(f.names, n)
			f.language[n] = language
		}
	}
	add(both, "")
	add(jsonPath, JSONPath)
	add(jsonata, JSONata)
	return f
}

// in returns the fields of a query language.
func (f *fields) in(language QueryLanguage) []string {
	var possible []string
	for _, n := range f.names {
		if only := f.language[n]; only == "" || only == language {
			possible = append(possible, n)
		}
	}
	return possible
}

// suggest returns the fields that could replace an unknown field.
func (f *fields) suggest(key string, language QueryLanguage) string {
	possible := f.in(language)
	accepted := f.what + " accepts " + strings.Join(possible, ", ")
	if guess := didYouMean(key, possible); guess != "" {
		return guess + " " + accepted
	}
	return accepted
}

const (
	everyState = "Type Comment QueryLanguage "
	leaving    = "Next End "
	handling   = "Retry Catch "
)

// stateFields follows the table of fields in the states language specification, and the developer guide's pages about
// the states.
var stateFields = map[Type]*fields{
	Task: newFields("a Task state",
		everyState+leaving+handling+"Resource TimeoutSeconds HeartbeatSeconds Credentials Assign",
		"InputPath OutputPath ResultPath Parameters ResultSelector TimeoutSecondsPath HeartbeatSecondsPath",
		"Arguments Output"),
	Parallel: newFields("a Parallel state",
		everyState+leaving+handling+"Branches Assign",
		"InputPath OutputPath ResultPath Parameters ResultSelector",
		"Arguments Output"),
	Map: newFields("a Map state",
		everyState+leaving+handling+"ItemProcessor Iterator ItemSelector MaxConcurrency ToleratedFailureCount "+
			"ToleratedFailurePercentage Label ItemReader ItemBatcher ResultWriter Assign",
		"InputPath OutputPath ResultPath Parameters ResultSelector ItemsPath MaxConcurrencyPath ToleratedFailureCountPath "+
			"ToleratedFailurePercentagePath",
		"Items Output"),
	Pass: newFields("a Pass state",
		everyState+leaving+"Assign",
		"InputPath OutputPath ResultPath Parameters Result",
		"Output"),
	Wait: newFields("a Wait state",
		everyState+leaving+"Seconds Timestamp Assign",
		"InputPath OutputPath SecondsPath TimestampPath",
		"Output"),
	Choice:  newFields("a Choice state", everyState+"Choices Default Assign", "InputPath OutputPath", "Output"),
	Succeed: newFields("a Succeed state", everyState, "InputPath OutputPath", "Output"),
	Fail:    newFields("a Fail state", everyState+"Error Cause", "ErrorPath CausePath", ""),
}

var (
	machineFields = newFields("a state machine", "Comment QueryLanguage StartAt States TimeoutSeconds Version", "", "")
	branchFields  = newFields("a branch", "Comment QueryLanguage StartAt States", "", "")
	processFields = newFields("an item processor", "Comment StartAt States ProcessorConfig", "", "")
	configFields  = newFields("a processor config", "Comment Mode ExecutionType", "", "")

	retrierFields = newFields("a retrier",
		"ErrorEquals IntervalSeconds MaxAttempts BackoffRate MaxDelaySeconds JitterStrategy Comment", "", "")
	catcherFields = newFields("a catcher", "ErrorEquals Next Assign Comment", "ResultPath", "Output")

	readerFields = newFields("an item reader", "Resource ReaderConfig Comment", "Parameters", "Arguments")
	readerConfig = newFields("a reader config",
		"InputType Transformation ManifestType CSVDelimiter CSVHeaderLocation CSVHeaders ItemsPointer MaxItems Comment",
		"MaxItemsPath", "")
	batcherFields = newFields("an item batcher", "MaxItemsPerBatch MaxInputBytesPerBatch BatchInput Comment",
		"MaxItemsPerBatchPath MaxInputBytesPerBatchPath", "")
	writerFields = newFields("a result writer", "Resource WriterConfig Comment", "Parameters", "Arguments")
	writerConfig = newFields("a writer config", "Transformation OutputType Comment", "", "")

	ruleFields = newFields("a choice rule", "Next Assign Comment", "And Or Not Variable "+operatorNames(),
		"Condition Output")
	nestedRuleFields = newFields("a nested choice rule", "Comment", "And Or Not Variable "+operatorNames(), "")
)

// counterparts maps a field to the equivalent one of the other query language.
var counterparts = map[string]string{
	"InputPath": "Arguments or Output", "OutputPath": "Output", "ResultPath": "Output", "Parameters": "Arguments",
	"ResultSelector": "Output", "Result": "Output", "ItemsPath": "Items", "Variable": "Condition",
	"TimeoutSecondsPath":   "TimeoutSeconds with an expression",
	"HeartbeatSecondsPath": "HeartbeatSeconds with an expression",
	"SecondsPath":          "Seconds with an expression", "TimestampPath": "Timestamp with an expression",
	"MaxConcurrencyPath": "MaxConcurrency with an expression", "ErrorPath": "Error with an expression",
	"CausePath": "Cause with an expression",
	"Arguments": "Parameters", "Output": "Parameters, ResultSelector, ResultPath and OutputPath", "Items": "ItemsPath",
	"Condition": "Variable with a comparison",
}

func counterpart(key string, language QueryLanguage) string {
	if c := counterparts[key]; c != "" {
		return "in " + string(language) + " use " + c
	}
	return ""
}
