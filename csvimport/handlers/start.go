package handlers

import (
	"context"
	"encoding/json"
	"log/slog"

	"stepback/csvimport"
	"stepback/internal/objectevent"
	"stepback/retry"
)

// Executions starts executions of one state machine.
type Executions interface {
	// Start starts an execution with this name. If an execution with this name has already ended or has a different
	// input, started is false and err is nil: the name stands for one version of one file, which is imported once.
	Start(ctx context.Context, name, input string) (started bool, err error)
}

// Started is the result for one event.
type Started struct {
	Execution string `json:"execution"` // the execution's name
	Repeated  bool   `json:"repeated"`  // the event was delivered before; nothing was started
}

// Start returns the handler of S3's "Object Created" events. It starts the execution that is named after the
// object's bucket, key and ETag: one of executions for a file, and one of manyFiles for a manifest
// (objectevent.ManifestSuffix). manyFiles may be nil; then manifests are refused. It fails with InvalidInput if an
// event is of another kind, lacks bucket, key or ETag, or is about a manifest that is refused.
func Start(executions, manyFiles Executions, log *slog.Logger) Func[Started] {
	step := func(ctx context.Context, event objectevent.Event) (Started, error) {
		if err := checkEvent(event); err != nil {
			return Started{}, err
		}
		executions := executions
		if event.OfManifest() {
			if manyFiles == nil {
				return Started{}, csvimport.Fail(retry.InvalidInput,
					"%s is a manifest, and here is no state machine that imports many files as one: import its files one by one",
					event.Detail.Object.Key)
			}
			executions = manyFiles
		}
		input, err := json.Marshal(event.StartInput())
		if err != nil {
			return Started{}, err
		}
		name := event.ExecutionName()
		started, err := executions.Start(ctx, name, string(input))
		if err != nil {
			return Started{}, err
		}
		return Started{Execution: name, Repeated: !started}, nil
	}
	return wrap("StartExecution", log, step, func(in objectevent.Event, out Started) []slog.Attr {
		return []slog.Attr{
			slog.String("bucket", in.Detail.Bucket.Name), slog.String("key", in.Detail.Object.Key),
			slog.String("execution", out.Execution), slog.Bool("repeated", out.Repeated),
		}
	})
}

func checkEvent(e objectevent.Event) error {
	if e.Source != objectevent.Source || e.DetailType != objectevent.DetailType {
		return csvimport.Fail(retry.InvalidInput,
			"the event is %q of %q, expected %q of %q: correct the rule's pattern",
			e.DetailType, e.Source, objectevent.DetailType, objectevent.Source)
	}
	for _, field := range []struct{ name, value string }{
		{"detail.bucket.name", e.Detail.Bucket.Name}, {"detail.object.key", e.Detail.Object.Key},
		{"detail.object.etag", e.Detail.Object.ETag},
	} {
		if field.value == "" {
			return csvimport.Fail(retry.InvalidInput, "the event %s has no %s", e.ID, field.name)
		}
	}
	return nil
}
