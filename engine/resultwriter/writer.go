package resultwriter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"stepback/jsonvalue"
)

// MaxFileBytes is the maximum size of a result file, 5 GB; further results go to another one.
const MaxFileBytes = 5_000_000_000

// Objects is the part of an object store that the writer needs. Implementations map the store's errors to messages
// that name bucket and key; the writer uses them as the cause of States.ResultWriterFailed.
type Objects interface {
	// Put stores an object of size bytes. It may seek in body, to read it again for a retry.
	Put(ctx context.Context, bucket, key string, body io.ReadSeeker, size int64) error
}

// Config is the configuration of a ResultWriter after its templates have been evaluated.
type Config struct {
	Bucket    string
	Prefix    string // optional; a trailing slash is ignored
	MapRunARN string // its UUID, after the last colon, becomes part of the keys

	Transformation Transformation // empty means NONE, the service's default for exports
	OutputType     OutputType     // empty means JSON

	// SpoolDir is the folder where results wait for Finish, in temporary files as large as all results together;
	// empty means the operating system's folder for temporary files.
	SpoolDir string
}

// fileStatuses are the statuses that have result files, in the manifest's order.
var fileStatuses = []Status{Failed, Pending, Succeeded}

// Writer exports the results of one Map Run. It must be used by one goroutine at a time. Exactly one call of Finish
// or Abort ends it.
type Writer struct {
	objects Objects
	cfg     Config
	format  format
	folder  string // prefix of the keys, with a trailing slash
	spools  map[Status]*spool
	buf     []byte
}

// New returns a Writer without results, or an *Error if the Config is invalid. It writes nothing yet.
func New(objects Objects, cfg Config) (*Writer, error) {
	uuid := cfg.MapRunARN[strings.LastIndexByte(cfg.MapRunARN, ':')+1:]
	switch {
	case cfg.Bucket == "":
		return nil, &Error{Cause: "the ResultWriter names no bucket; give Bucket in its Parameters or Arguments"}
	case uuid == "":
		return nil, &Error{Cause: fmt.Sprintf("MapRunARN %q is not the ARN of a Map run", cfg.MapRunARN)}
	}
	f := format{transformation: cfg.Transformation, lines: cfg.OutputType == JSONL}
	switch f.transformation {
	case "":
		f.transformation = None
	case None, Compact, Flatten:
	default:
		return nil, &Error{Cause: fmt.Sprintf("Transformation %q is not one of NONE, COMPACT, FLATTEN",
			cfg.Transformation)}
	}
	switch cfg.OutputType {
	case "", JSON, JSONL:
	default:
		return nil, &Error{Cause: fmt.Sprintf("OutputType %q is not one of JSON, JSONL", cfg.OutputType)}
	}
	w := &Writer{objects: objects, cfg: cfg, format: f, folder: uuid + "/", spools: map[Status]*spool{}}
	if prefix := strings.TrimRight(cfg.Prefix, "/"); prefix != "" {
		w.folder = prefix + "/" + w.folder
	}
	for _, status := range fileStatuses {
		w.spools[status] = &spool{create: w.temporaryFile, limit: MaxFileBytes, lines: f.lines}
	}
	return w, nil
}

func (w *Writer) temporaryFile() (file, error) {
	return os.CreateTemp(w.cfg.SpoolDir, spoolName)
}

// Add adds one result. Failed, timed out and aborted children go to the FAILED files. The error is an *Error; after
// it, earlier results are not lost, but Finish cannot succeed any more.
func (w *Writer) Add(r ChildResult) error {
	status := r.Status
	if status == TimedOut || status == Aborted {
		status = Failed
	}
	s, ok := w.spools[status]
	if !ok {
		return &Error{Cause: fmt.Sprintf("a child execution of status %q has no result to write", r.Status)}
	}
	w.buf = w.format.append(w.buf[:0], &r)
	if err := s.add(w.buf); err != nil {
		return spoolError(err)
	}
	return nil
}

func spoolError(err error) error {
	return &Error{Cause: "keeping the results in a temporary file: " + err.Error() +
		"; free space there or choose another folder", Err: err}
}

// Export is the location of exported results.
type Export struct {
	MapRunARN string
	Bucket    string
	Key       string // key of manifest.json
}

// StateOutput returns the output of a Map state that exports its results.
func (e Export) StateOutput() jsonvalue.Value {
	details := jsonvalue.NewObject(2)
	details.Set("Bucket", jsonvalue.OfString(e.Bucket))
	details.Set("Key", jsonvalue.OfString(e.Key))
	out := jsonvalue.NewObject(2)
	out.Set("MapRunArn", jsonvalue.OfString(e.MapRunARN))
	out.Set("ResultWriterDetails", details.Value())
	return out.Value()
}

// Finish uploads the result files and then the manifest, and removes the temporary files whether or not that succeeds.
// A status without results has no file. The error is an *Error, or the context's.
func (w *Writer) Finish(ctx context.Context) (Export, error) {
	export, err := w.upload(ctx)
	if removeErr := w.Abort(); err == nil && removeErr != nil {
		err = removeErr
	}
	return export, err
}

func (w *Writer) upload(ctx context.Context) (Export, error) {
	files := map[Status][]ResultFile{}
	for _, status := range fileStatuses {
		s := w.spools[status]
		if err := s.endPart(); err != nil {
			return Export{}, spoolError(err)
		}
		for n, p := range s.parts {
			key := fmt.Sprintf("%s%s_%d.json", w.folder, status, n)
			if _, err := p.file.Seek(0, io.SeekStart); err != nil {
				return Export{}, spoolError(err)
			}
			if err := w.put(ctx, key, p.file, p.size); err != nil {
				return Export{}, err
			}
			files[status] = append(files[status], ResultFile{Key: key, Size: p.size})
		}
	}
	key, manifest := w.folder+"manifest.json", w.manifest(files)
	if err := w.put(ctx, key, bytes.NewReader(manifest), int64(len(manifest))); err != nil {
		return Export{}, err
	}
	return Export{MapRunARN: w.cfg.MapRunARN, Bucket: w.cfg.Bucket, Key: key}, nil
}

func (w *Writer) put(ctx context.Context, key string, body io.ReadSeeker, size int64) error {
	err := w.objects.Put(ctx, w.cfg.Bucket, key, body, size)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Cause: err.Error(), Err: err}
}

// Abort removes the temporary files and uploads nothing. The error is an *Error. It may be called more than once, also
// after Finish.
func (w *Writer) Abort() error {
	all := make([]error, 0, len(fileStatuses))
	for _, status := range fileStatuses {
		all = append(all, w.spools[status].remove())
	}
	if err := errors.Join(all...); err != nil {
		return &Error{Cause: "removing temporary files: " + err.Error(), Err: err}
	}
	return nil
}
