package statemachine

import (
	"errors"
	"fmt"
	"time"

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
