package statemachine

import (
	"math"
	"time"

	"stepback/retry"
)

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

// polls is the maximum number of times that a child execution asks for the status of its import. Each time adds 11
// events to the child's history, which AWS limits to 25,000.
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
