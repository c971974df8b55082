package statemachine

import (
	"errors"
	"fmt"
	"math"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// The states of the state machine that imports many files as one; see [FilesDefinition].
const (
	ListFiles             = "ListFiles"
	ImportFiles           = "ImportFiles" // the distributed Map over the files, and its Label
	ImportFile            = "ImportFile"
	DescribeImport        = "DescribeImport"
	SumFiles              = "SumFiles"
	NotifyFilesRejected   = "NotifyFilesRejected"
	NotifyFilesCompletion = "NotifyFilesCompletion"
	NotifyFilesFailure    = "NotifyFilesFailure"
)

const (
	initializeFiles = "InitializeFiles"
	checkImport     = "CheckImport"
	awaitImport     = "AwaitImport"
	importEnded     = "ImportEnded"
	notStarted      = "NotStarted"
	checkFiles      = "CheckFiles"
	filesNotRun     = "FilesNotRun"
	filesFailed     = "SomeFilesFailed"
	filesUnfinished = "SomeFilesUnfinished"
	rejectFiles     = "RejectFiles"
	filesSucceeded  = "FilesSucceeded"
	filesEnded      = "FilesEnded"
	filesRejected   = "FilesRejected"
)

// The errors of an execution that imports many files. Any other error is a fault of the system.
const (
	// FilesRejected is the error if the list of the files was rejected, so that no file was imported. The cause begins
	// with the name of ListFiles' error.
	FilesRejected = "FilesRejected"
	// FilesFailed is the error if the import of every file ended, and some failed. Each of these is an execution of its
	// own, which reports its own error.
	FilesFailed = "FilesFailed"
	// FilesUnfinished is the error if some files have no import, or none whose end is known. No other execution reports
	// that.
	FilesUnfinished = "FilesUnfinished"
)

// MaxFiles is the maximum number of files that are imported as one.
const MaxFiles = 100_000

// FilesTimeout is the maximum duration of an import of many files. It is the period in which an execution can be
// redriven; the list of the files is kept a day longer.
const FilesTimeout = 14 * 24 * time.Hour

// FilesTransitions are the state transitions of an import of many files besides those of its files, and FileTransitions
// those of each file besides the import of the file itself.
const (
	FilesTransitions = 8 // the start, and each state of the outer machine
	FileTransitions  = 5 // the child's start, ImportFile, DescribeImport, CheckImport, ImportEnded
)

// PartOf is the member of an import's input that names the execution which imports the file together with others. Such
// an import publishes no message of its own.
const PartOf = "partOf"

// FilesPrefix returns the key prefix, in the result bucket, of the summary of an import of many files.
func FilesPrefix(execution string) string { return "imports/" + execution }

// FilesOptions holds the names and numbers of the state machine that imports many files as one.
type FilesOptions struct {
	// FilesFunction is the name or ARN of the function of ListFiles and SumFiles.
	FilesFunction string
	// ImportMachine is the ARN, perhaps of an alias, with which the import of a file is started. ImportExecutions is
	// the ARN of that state machine's executions, without the colon and the name at its end.
	ImportMachine, ImportExecutions string
	// ResultBucket and TopicARN are those of [Options].
	ResultBucket, TopicARN string
	// Concurrency is the maximum number of files that are imported concurrently, 1 to 1,000.
	Concurrency int
	// ImportTimeout is the Timeout of the import of a file.
	ImportTimeout time.Duration
}

const maxFilesConcurrency = 1000

// FilesSubstitutions returns options with placeholders of the form ${Name} as names, for CloudFormation's
// DefinitionSubstitutions: FilesFunctionArn, ImportStateMachineArn, ImportExecutionsArn, ResultBucketName and
// NotificationTopicArn. Files are imported four at a time, each within a day.
func FilesSubstitutions() FilesOptions {
	return FilesOptions{
		FilesFunction: "${FilesFunctionArn}", ImportMachine: "${ImportStateMachineArn}",
		ImportExecutions: "${ImportExecutionsArn}", ResultBucket: "${ResultBucketName}",
		TopicARN: "${NotificationTopicArn}", Concurrency: 4, ImportTimeout: DefaultOptions().Timeout,
	}
}

// check returns all problems with the options, joined.
func (o FilesOptions) check() error {
	var problems []error
	for _, name := range []struct{ option, value string }{
		{"FilesFunction", o.FilesFunction}, {"ImportMachine", o.ImportMachine},
		{"ImportExecutions", o.ImportExecutions}, {"ResultBucket", o.ResultBucket}, {"TopicARN", o.TopicARN},
	} {
		if name.value == "" {
			problems = append(problems, fmt.Errorf("%s is empty", name.option))
		}
	}
	if o.Concurrency < 1 || o.Concurrency > maxFilesConcurrency {
		problems = append(
			problems,
			fmt.Errorf("the Concurrency is %d; want 1 to %d", o.Concurrency, maxFilesConcurrency),
		)
	}
	if o.ImportTimeout < time.Second || o.ImportTimeout > maxTimeout || o.ImportTimeout%time.Second != 0 {
		problems = append(
			problems,
			fmt.Errorf("the ImportTimeout is %v; want whole seconds from 1s to a year", o.ImportTimeout),
		)
	}
	return errors.Join(problems...)
}

// FilesTable returns the retry table of the state machine that imports many files as one, a fresh copy each time. All
// its rows are additions to the source design. importTimeout is the Timeout of the import of a file.
func FilesTable(importTimeout time.Duration) retrypatterns.Table {
	// The import ends by its own timeout; this one is for a task whose end is never reported.
	const margin = time.Hour
	return retrypatterns.Table{States: []retrypatterns.StateRetries{
		state(ListFiles, 300*time.Second, 0, filesRows()),
		state(ImportFile, importTimeout+margin, 0, startRows()),
		state(DescribeImport, 30*time.Second, 0, describeRows()),
		state(SumFiles, 300*time.Second, 0, filesRows()),
		state(NotifyFilesRejected, 30*time.Second, 0, notifyRows()),
		state(NotifyFilesCompletion, 30*time.Second, 0, notifyRows()),
		state(NotifyFilesFailure, 30*time.Second, 0, notifyRows()),
	}}
}

func filesRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		addition(
			"faults of Lambda itself",
			retrypatterns.Aggressive,
			retry.LambdaServiceException,
			retry.LambdaAWSLambdaException,
			retry.LambdaSdkClientException,
			retry.LambdaClientExecutionTimeoutException,
		),
		addition(
			"Lambda or S3 asks for a slower rate",
			retrypatterns.Conservative,
			retry.LambdaTooManyRequestsException,
			retry.LambdaThrottledException,
			retry.S3SlowDown,
			retry.TooManyRequestsError,
		),
		addition("S3 fails", retrypatterns.Aggressive, retry.S3ServiceUnavailable, retry.S3InternalError,
			retry.ServiceUnavailableError, retry.InternalServerError),
		addition(
			"network errors on the way to S3",
			retrypatterns.Conservative,
			retry.TimeoutError,
			retry.ConnectionTimeoutError,
			retry.SocketTimeoutError,
		),
		addition("a hang, a crash or the function's own timeout", retrypatterns.Minimal, retry.StatesTimeout,
			retry.RuntimeExitError, retry.LambdaUnknown, retry.SandboxTimedout),
	}
}

// startRows has no row for States.TaskFailed, the error of an import that failed: a retry would only find that the
// execution exists.
func startRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		addition("faults of Step Functions itself", retrypatterns.Aggressive, retry.StepFunctionsServiceException,
			retry.StepFunctionsSdkClientException),
		addition("Step Functions asks for a slower rate, or has too many executions", retrypatterns.Conservative,
			retry.StepFunctionsThrottlingException, retry.StepFunctionsExecutionLimitExceeded),
	}
}

func describeRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		addition(
			"faults of Step Functions itself",
			retrypatterns.Aggressive,
			retry.SfnServiceException,
			retry.SfnSdkClientException,
		),
		addition("Step Functions asks for a slower rate", retrypatterns.Conservative, retry.SfnThrottlingException),
		addition("a hang", retrypatterns.Minimal, retry.StatesTimeout),
	}
}

// FilesDefinition returns the state machine that imports many files as one, as indented JSON.
//
// Its input is {"prefix": …} or {"manifest": …}. ListFiles writes the list of the files, or refuses all of them before
// any is imported. ImportFiles, a distributed Map, starts the state machine of [Definition] for each file, under the
// name that an upload's own event gives the execution, so that a file is imported once however often it is listed.
// The children do not fail: their output is the description of the file's import. SumFiles adds up the files. The
// execution fails with [FilesRejected], [FilesFailed], [FilesUnfinished] or the error of a fault unless all files
// succeeded. See decision 085.
func FilesDefinition(table retrypatterns.Table, o FilesOptions) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("options of the state machine of many files: %w", err)
	}
	b := filesBuilder{builder{Options: Options{ResultBucket: o.ResultBucket, TopicARN: o.TopicARN},
		limits: map[string]object{}, brief: map[string]int{}}, o}
	for _, s := range table.States {
		compiled, err := s.Compile()
		if err != nil {
			return nil, err
		}
		b.limits[s.State], b.brief[s.State] = limits(s, compiled.Retry), briefRetries(compiled.Retry)
	}
	for _, s := range FilesTable(o.ImportTimeout).States {
		if _, ok := b.limits[s.State]; !ok {
			return nil, fmt.Errorf("state %q is not in the retry table", s.State)
		}
	}
	return b.machine().indented()
}

type filesBuilder struct {
	builder
	o FilesOptions
}

func (b filesBuilder) machine() object {
	return object{
		{
			"Comment",
			"CSV import of many files as one: lists them, imports each with an execution of its own, and sums them up",
		},
		{"StartAt", initializeFiles},
		{"TimeoutSeconds", int(FilesTimeout / time.Second)},
		{
			"States",
			object{
				{initializeFiles, b.initialize()},
				{ListFiles, b.listFiles()},
				{NotifyFilesRejected, b.notify(NotifyFilesRejected, "CSV import of many files rejected", object{
					{
						"status",
						"REJECTED",
					},
					{"execution.$", "$.execution"},
					{"request.$", "$.request"},
					{"error.$", "$.error"},
				}, rejectFiles)},
				{rejectFiles, object{
					{"Type", "Pass"},
					{"Parameters", object{
						{"Error", FilesRejected},
						{"Cause.$", "States.Format('{}: {}', $.error.Error, $.error.Cause)"},
					}},
					{"ResultPath", "$.error"},
					{"Next", filesRejected},
				}},
				{filesRejected, fail("No file was imported")},
				{ImportFiles, b.importFiles()},
				{SumFiles, b.sumFiles()},
				{checkFiles, b.checkFiles()},
				{filesNotRun, object{
					{"Type", "Pass"},
					{"Comment", "The Map Run did not finish; the summary shows how far it got"},
					{"Parameters", object{{"Error.$", "$.mapError.Error"}, {"Cause.$", "$.mapError.Cause"}}},
					{"ResultPath", "$.error"},
					{"Next", NotifyFilesFailure},
				}},
				{filesUnfinished, filesError(FilesUnfinished, "{} of {} files have no import, or none whose end is known", "unfinished")},
				{filesFailed, filesError(FilesFailed, "{} of {} files were not imported, or not completely", "failed")},
				{NotifyFilesCompletion, b.notify(NotifyFilesCompletion, "CSV import of many files succeeded", object{
					{"status", "SUCCEEDED"}, {"execution.$", "$.execution"}, {"summary.$", "$.aggregation.summary"},
				}, filesSucceeded)},
				{filesSucceeded, object{{"Type", "Succeed"}, {"OutputPath", "$.aggregation.summary"}}},
				{NotifyFilesFailure, b.notify(NotifyFilesFailure, "CSV import of many files failed", object{
					{
						"status",
						"FAILED",
					},
					{"execution.$", "$.execution"},
					{"request.$", "$.request"},
					{"error.$", "$.error"},
					{"aggregation.$", "$.aggregation"},
				}, filesEnded)},
				{filesEnded, fail("Not all files were imported")},
			},
		},
	}
}

// filesError returns a state that makes the execution fail with an error, after the message. The cause is about the
// files that a member of the summary counts.
func filesError(name, cause, counted string) object {
	return object{
		{"Type", "Pass"},
		{"Parameters", object{
			{"Error", name},
			{"Cause.$", "States.Format('" + cause + ". Summary: s3://{}/{}', $.aggregation.summary." + counted +
				", $.aggregation.summary.files, $.aggregation.summary.summary.bucket, $.aggregation.summary.summary.key)"},
		}},
		{"ResultPath", "$.error"},
		{"Next", NotifyFilesFailure},
	}
}

// initialize returns the state that gives every later state the same fields to read.
func (b filesBuilder) initialize() object {
	place := func(folder string) object {
		return object{{"bucket", b.o.ResultBucket},
			{"prefix.$", "States.Format('" + folder + "{}', $$.Execution.Name)"}}
	}
	return object{
		{"Type", "Pass"},
		{"Comment", "Gives every later state the same fields to read"},
		{"Parameters", object{
			{"request.$", "$"},
			{"execution.$", "$$.Execution.Name"},
			{"startTime.$", "$$.Execution.StartTime"},
			{"work", place(WorkPrefix("files/"))},
			{"results", place("results/files/")},
			{"output", place(FilesPrefix(""))},
			{"mapError", nil},
			{"aggregation", nil},
		}},
		{"Next", ListFiles},
	}
}

// faultsOfLists are the errors of ListFiles that mean that the input or the manifest is wrong.
var faultsOfLists = []string{retry.InvalidInput, CSVFileNotFound, CSVFileChanged}

func (b filesBuilder) listFiles() object {
	return b.lambda(
		ListFiles,
		"Lists the files of a prefix or a manifest, and refuses the import if the list has errors",
		b.o.FilesFunction,
		object{{"request.$", "$.request"}, {"execution.$", "$.execution"}, {"work.$", "$.work"}},
		object{
			{"ResultSelector", object{{"report.$", "$.Payload"}}},
			{"ResultPath", "$.list"},
			{"Catch", []object{
				{{"ErrorEquals", faultsOfLists}, {"ResultPath", "$.error"}, {"Next", NotifyFilesRejected}},
				{{"ErrorEquals", []string{"States.ALL"}}, {"ResultPath", "$.error"}, {"Next", NotifyFilesFailure}},
			}},
			{"Next", ImportFiles},
		},
	)
}

func (b filesBuilder) importFiles() object {
	return object{
		{"Type", "Map"},
		{"Comment", "One child execution per file"},
		{"Label", ImportFiles},
		{"ItemReader", object{
			{"Resource", "arn:aws:states:::s3:getObject"},
			{"ReaderConfig", object{{"InputType", "JSON"}}},
			{"Parameters", object{{"Bucket.$", "$.list.report.list.bucket"}, {"Key.$", "$.list.report.list.key"}}},
		}},
		{"ItemSelector", object{{"file.$", "$$.Map.Item.Value"}, {PartOf + ".$", "$.execution"}}},
		{"MaxConcurrency", b.o.Concurrency},
		{"ToleratedFailurePercentage", 100},
		{
			"ItemProcessor",
			object{
				{"ProcessorConfig", object{{"Mode", "DISTRIBUTED"}, {"ExecutionType", "STANDARD"}}},
				{"StartAt", ImportFile},
				{
					"States",
					object{
						{ImportFile, b.importFile()},
						{DescribeImport, b.describeImport()},
						{checkImport, object{
							{"Type", "Choice"},
							{"Choices", []object{
								{{"Variable", "$.import.Status"}, {"StringEquals", "RUNNING"}, {"Next", awaitImport}},
							}},
							{"Default", importEnded},
						}},
						{awaitImport, object{
							{"Type", "Wait"},
							{"Comment", "The file's own event started the import before"},
							{"Seconds", b.poll()},
							{"Next", DescribeImport},
						}},
						{importEnded, object{{"Type", "Succeed"}}},
						{
							notStarted,
							object{
								{"Type", "Succeed"},
								{"Comment", "The file's import does not exist: $.start is the reason"},
							},
						},
					},
				},
			},
		},
		{"ResultWriter", object{
			{"Resource", "arn:aws:states:::s3:putObject"},
			{"Parameters", object{{"Bucket.$", "$.results.bucket"}, {"Prefix.$", "$.results.prefix"}}},
		}},
		{"ResultPath", nil},
		catchAll("$.mapError", SumFiles),
		{"Next", SumFiles},
	}
}

// polls is the maximum number of times that an import is described. Each takes 11 events of the child's history, which
// may have 25,000.
const polls = 2000

// poll returns the interval, in seconds, at which the import of a file is described that was started before: at least
// 30, and enough for polls within the time that the import may take.
func (b filesBuilder) poll() int {
	const shortest = 30
	return max(shortest, int(math.Ceil(b.o.ImportTimeout.Seconds()/polls)))
}

// importFile returns the state that starts the import of a file and waits for its end. Whatever it ends with,
// DescribeImport reads the outcome, which is the same for an import that was started before.
func (b filesBuilder) importFile() object {
	return b.task(ImportFile, "Imports the file with an execution of its own, named after its bucket, key and ETag",
		"arn:aws:states:::states:startExecution.sync:2",
		object{
			{"StateMachineArn", b.o.ImportMachine},
			{"Name.$", "$.file.execution"},
			{"Input", object{
				{"bucket.$", "$.file.bucket"}, {"key.$", "$.file.key"}, {"etag.$", "$.file.etag"},
				{PartOf + ".$", "$." + PartOf},
			}},
		},
		object{
			{"ResultPath", nil},
			catchAll("$.start", DescribeImport),
			{"Next", DescribeImport},
		})
}

func (b filesBuilder) describeImport() object {
	return b.task(DescribeImport, "Reads the status of the file's import",
		"arn:aws:states:::aws-sdk:sfn:describeExecution",
		object{{"ExecutionArn.$", "States.Format('{}:{}', '" + b.o.ImportExecutions + "', $.file.execution)"}},
		object{
			{"ResultPath", "$.import"},
			catchAll("$.describe", notStarted),
			{"Next", checkImport},
		})
}

func (b filesBuilder) sumFiles() object {
	return b.lambda(SumFiles, "Adds up the files and names those that failed",
		b.o.FilesFunction,
		object{
			{"request.$", "$.request"},
			{"execution.$", "$.execution"},
			{"startTime.$", "$.startTime"},
			{"list.$", "$.list.report"},
			{"results.$", "$.results"},
			{"output.$", "$.output"},
			{"mapError.$", "$.mapError"},
		},
		object{
			{"ResultSelector", object{{"summary.$", "$.Payload"}}},
			{"ResultPath", "$.aggregation"},
			catchAll("$.error", NotifyFilesFailure),
			{"Next", checkFiles},
		})
}

func (b filesBuilder) checkFiles() object {
	return object{
		{"Type", "Choice"},
		{"Choices", []object{
			{{"Variable", "$.mapError"}, {"IsNull", false}, {"Next", filesNotRun}},
			{{"Variable", "$.aggregation.summary.unfinished"}, {"NumericGreaterThan", 0}, {"Next", filesUnfinished}},
			{{"Variable", "$.aggregation.summary.failed"}, {"NumericGreaterThan", 0}, {"Next", filesFailed}},
		}},
		{"Default", NotifyFilesCompletion},
	}
}
