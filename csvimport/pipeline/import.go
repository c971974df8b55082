package pipeline

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/aws/objects"
	"stepback/csvimport"
	"stepback/csvimport/validate"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/objectevent"
	"stepback/retry"
	"stepback/statemachine"
)

// Progress is the progress of a run.
type Progress struct {
	Stage string // the state that the execution is in
	// Done and Total count rows; Total is 0 until the file has been counted.
	Done, Total int64
	// Ranges is the number of ranges of a large file that are being validated, and Validated counts those that have
	// been. They are 0 at other times.
	Ranges, Validated int64
	// Part is the part of a large file that is being applied, from 1, and Parts the number of its parts; 0 for others.
	Part, Parts int
	// Children counts the running child executions.
	Children int64
	// Failed counts the failed attempts of functions since the directory was opened. Error is the name of the
	// latest failure.
	Failed int64
	Error  string
}

// Import imports a file and returns the report. It puts the file into the input bucket, which starts an execution,
// and waits for the execution's end. If the same content was imported under the same name before, nothing is
// started and the earlier report is returned. If again is true, another execution is started for the same records
// instead; records already applied are not applied twice. watch, if not nil, is called about ten times a second
// from the calling goroutine.
func (p *Pipeline) Import(ctx context.Context, file string, again bool, watch func(Progress)) (*Report, error) {
	return p.ImportAs(ctx, file, keyOf(file), again, watch)
}

// ImportAs is like Import for an object with another key than the file's base name.
func (p *Pipeline) ImportAs(ctx context.Context, file, key string, again bool, watch func(Progress)) (*Report, error) {
	began := time.Now()
	s, err := p.upload(ctx, file, key)
	if err != nil {
		return nil, err
	}
	if s.repeated && (again || p.interrupted(ctx, s.arn)) {
		if s, err = p.startAnother(ctx, s, again); err != nil {
			return nil, err
		}
	}
	if s.repeated {
		report, err := p.earlier(ctx, s.arn)
		if err != nil {
			return nil, err
		}
		// a resumed execution may have ended since the directory was opened
		err = errors.Join(p.finishResumed(ctx), p.tidy(ctx))
		p.relay(ctx, false)
		return report, err
	}
	x, err := p.wait(ctx, s.arn, watch)
	if err != nil {
		return nil, err
	}
	retries, err := p.counted(ctx, x)
	if err != nil {
		return nil, err
	}
	report := p.report(ctx, x, retries)
	report.Elapsed, report.Injected = Seconds(time.Since(began)), p.injected()
	if err := p.countImport(report); err != nil {
		return nil, err
	}
	err = errors.Join(p.save(report), p.finishResumed(ctx), p.tidy(ctx))
	p.relay(ctx, false)
	return report, err
}

// FileError reports that no import of a file was started, because of the file itself: it is missing, cannot be read, is
// no regular file, changed while it was read, or is a manifest. Name is the error that the import would have failed
// with.
type FileError struct {
	Name string
	Err  error
}

func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// unusable converts an error of the file system to a FileError.
func unusable(err error) error {
	name := retry.InvalidInput
	switch {
	case errors.Is(err, fs.ErrNotExist):
		name = statemachine.CSVFileNotFound
	case errors.Is(err, fs.ErrPermission):
		name = retry.AccessDenied
	}
	return &FileError{name, err}
}

// upload puts the file into the bucket and returns the execution that its Object Created event started.
func (p *Pipeline) upload(ctx context.Context, file, key string) (start, error) {
	f, err := os.Open(file)
	if err != nil {
		return start{}, unusable(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return start{}, err
	}
	if !info.Mode().IsRegular() {
		return start{}, unusable(fmt.Errorf("%s is a directory, a pipe or a device, which cannot be read twice: name a CSV file", file))
	}
	put := p.put
	if info.Size() > objects.MaxPartBytes {
		put = p.putInParts
	}
	etag, err := put(ctx, key, f, info.Size())
	if err != nil {
		return start{}, fmt.Errorf("putting %s into the bucket %s: %w", file, inputBucket, err)
	}
	p.mu.Lock()
	s, ok := p.starts[startKey(key, etag)]
	p.mu.Unlock()
	if !ok {
		return start{}, &FileError{statemachine.CSVFileChanged,
			fmt.Errorf("there was no Object Created event for %s: the file changed while it was read; try again", file)}
	}
	if f, ok := errors.AsType[*csvimport.Failure](s.err); ok && f.Name == retry.InvalidInput {
		return start{}, &FileError{f.Name, errors.New(f.Message)}
	}
	return s, s.err
}

// put puts a file into the bucket in one request, and returns its ETag.
func (p *Pipeline) put(ctx context.Context, key string, f *os.File, size int64) (string, error) {
	digest := md5.New()
	var unread error
	var beside sync.WaitGroup
	beside.Go(func() { _, unread = io.Copy(digest, io.NewSectionReader(f, 0, size)) })
	err := p.client.Put(ctx, objects.Put{Bucket: inputBucket, Key: key, Body: f, Size: size})
	beside.Wait()
	return hex.EncodeToString(digest.Sum(nil)), errors.Join(err, unread)
}

// uploadPartBytes is the size of the parts in which a file is put that is too large for one request. The ETag depends
// on it, so that it must never change: the same file would be another version.
const uploadPartBytes = 64 << 20

// putInParts puts a file into the bucket in parts, and returns its ETag. The parts of a file above 10,000 × 64 MiB are
// larger.
func (p *Pipeline) putInParts(ctx context.Context, key string, f *os.File, size int64) (string, error) {
	u, err := p.client.CreateUpload(ctx, objects.Put{Bucket: inputBucket, Key: key})
	if err != nil {
		return "", err
	}
	each := max(uploadPartBytes, (size+objects.MaxParts-1)/objects.MaxParts)
	var etags []string
	for at := int64(0); at < size; at += each {
		n := min(each, size-at)
		etag, err := p.client.UploadPart(ctx, u, objects.Part{Number: len(etags) + 1, Body: io.NewSectionReader(f, at,
			n),
			Size: n})
		if err != nil {
			return "", errors.Join(err, p.client.AbortUpload(context.WithoutCancel(ctx), u))
		}
		etags = append(etags, etag)
	}
	etag, err := p.client.CompleteUpload(ctx, u, etags)
	if err != nil {
		return "", errors.Join(err, p.client.AbortUpload(context.WithoutCancel(ctx), u))
	}
	return csvimport.UnquoteETag(etag), nil
}

// begin starts the execution of a file under the name derived from its bucket, key and ETag.
func (p *Pipeline) begin(ctx context.Context, name string, input objectevent.ExecutionInput) start {
	text, err := json.Marshal(input)
	if err != nil {
		return start{err: err}
	}
	s := start{name: name, arn: p.machine.executionARN(name)}
	_, err = p.states.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &p.machine.arn, Name: &name,
		Input: aws.String(string(text))})
	var exists *types.ExecutionAlreadyExists
	if s.repeated = errors.As(err, &exists); !s.repeated {
		s.err = err
	}
	return s
}

// has reports whether there is an execution with this name and input.
func (p *Pipeline) has(ctx context.Context, name string, input objectevent.ExecutionInput) bool {
	x, err := p.states.DescribeExecution(ctx, &sfn.DescribeExecutionInput{
		ExecutionArn: aws.String(p.machine.executionARN(name))})
	var found objectevent.ExecutionInput
	return err == nil && json.Unmarshal([]byte(aws.ToString(x.Input)), &found) == nil && found == input
}

// interrupted reports whether an earlier execution never ended by itself: it was stopped, or its process died and it
// could not be resumed.
func (p *Pipeline) interrupted(ctx context.Context, arn string) bool {
	x, err := p.engine.DescribeExecution(ctx, arn)
	return err == nil && (x.Status == history.Running || x.Status == history.Aborted)
}

// startAnother starts another execution for a file that has already had one, under the first free number. If again
// is false and one of the existing executions ended by itself, it starts nothing, because that execution is the
// file's import.
func (p *Pipeline) startAnother(ctx context.Context, s start, again bool) (start, error) {
	x, err := p.engine.DescribeExecution(ctx, s.arn)
	if err != nil {
		return start{}, err
	}
	var input objectevent.ExecutionInput
	if err := json.Unmarshal([]byte(x.Input), &input); err != nil {
		return start{}, err
	}
	for n := 2; ; n++ {
		next := p.begin(ctx, objectevent.Numbered(s.name, n), input)
		if !next.repeated || !again && !p.interrupted(ctx, next.arn) {
			return next, next.err
		}
	}
}

// wait waits for the end of an execution. When the context ends, it stops the execution and waits for that.
func (p *Pipeline) wait(ctx context.Context, arn string, watch func(Progress)) (*journal.Execution, error) {
	ended := p.engine.Ended(arn)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return p.engine.Wait(ctx, arn)
		case <-ctx.Done():
			stop := history.NewFailure("Interrupted", "stepback was asked to stop")
			return nil, errors.Join(p.engine.StopAll(context.WithoutCancel(ctx), stop), ctx.Err())
		case <-tick.C:
			if watch != nil {
				watch(p.progress(ctx, arn))
			}
		}
	}
}

func (p *Pipeline) progress(ctx context.Context, arn string) Progress {
	var g Progress
	events, err := p.engine.History(ctx, arn)
	if err != nil {
		return g
	}
	for i := range events {
		if events[i].Type.Entered() {
			g.Stage = events[i].Name
		}
		if events[i].Type.Step() == history.StepSucceeded {
			stage(&g, events[i].Data)
		}
	}
	for _, c := range p.engine.MapRuns() {
		ended := c.Items.Succeeded + c.Items.Failed + c.Items.TimedOut + c.Items.Aborted
		if g.Ranges > 0 {
			g.Validated += ended
			continue
		}
		g.Done += ended
		g.Children += c.Executions.Running
	}
	g.Done = p.rows.done(g.Done)
	g.Failed, g.Error = p.failures.failed()
	return g
}

// stage adds what the output of a task says about the progress of an execution: that of ValidateCSVFile about the file,
// and that of AggregateResults about the next part of a large file.
func stage(g *Progress, output string) {
	if next := nextOf(output); next != nil {
		part := next.Report.Part
		g.Part, g.Done = part.Number+1, part.Offset.Rows
		return
	}
	file := validated(output)
	switch {
	case file.Split != nil:
		g.Ranges = int64(file.Split.Count)
	case file.Part.Count > 0:
		g.Ranges, g.Part, g.Parts, g.Total = 0, 1, file.Part.Count, file.Part.Total
	case g.Total == 0:
		g.Total = file.Rows
	}
}

// validated returns the result of ValidateCSVFile from its task's output, or a zero one if the output is not that.
func validated(output string) validate.Output {
	var answer struct{ Payload validate.Output }
	if json.Unmarshal([]byte(output), &answer) != nil {
		return validate.Output{}
	}
	return answer.Payload
}

// keyOf returns the key under which a file is imported.
func keyOf(file string) string { return filepath.Base(file) }

// ObjectOf returns the address of a file's object, as it appears in causes of failures.
func ObjectOf(file string) string { return "s3://" + inputBucket + "/" + keyOf(file) }
