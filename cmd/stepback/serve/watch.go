package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/rerun"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/local"
)

// watcher creates a state machine for every definition in a directory, and updates it when the file changes.
type watcher struct {
	dir    string
	role   string
	values map[string]string // values of placeholders
	states *sfn.Client
	out    io.Writer
	seen   map[string]rerun.Stamp // by path
}

// watch creates state machines from the definitions in a directory and starts watching it; stop stops watching and
// waits for the end.
func watch(ctx context.Context, dir string, values map[string]string, p *local.Platform, out io.Writer) (stop func(),
	err error) {
	w := &watcher{
		dir: dir, values: values, role: p.Scope.GlobalARN("iam", "role/stepback"),
		states: workspace.StatesClient(p), out: out, seen: map[string]rerun.Stamp{},
	}
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.keepLooking(ctx)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

// keepLooking polls until ctx ends. It prints an error once, not at every poll.
func (w *watcher) keepLooking(ctx context.Context) {
	tick := time.NewTicker(rerun.LookEvery)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := w.look(ctx)
		if err == nil {
			said = ""
		} else if ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			fmt.Fprintf(w.out, "stepback: %v\n", err)
		}
	}
}

// look loads the files that are new or have changed since the last look. State machines of deleted files are kept.
func (w *watcher) look(ctx context.Context) error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	there, names := map[string]rerun.Stamp{}, map[string]string{}
	for _, entry := range entries {
		path := filepath.Join(w.dir, entry.Name())
		if !definitions.IsDefinition(entry.Name()) {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			continue // it has just been deleted, or is not a regular file
		}
		now := rerun.StampOf(info)
		there[path] = now
		other, taken := names[definitions.MachineName(path)]
		names[definitions.MachineName(path)] = path
		switch {
		case now == w.seen[path]:
		case taken:
			fmt.Fprintf(w.out, "%s: ignored, because %s already defines the state machine %s\n", path, other,
				definitions.MachineName(path))
		default:
			w.take(ctx, path)
		}
	}
	w.seen = there
	return nil
}

// take creates or updates the state machine of a file, and prints the result or the error.
func (w *watcher) take(ctx context.Context, path string) {
	d, err := definitions.Read("", path, w.values, terminal.Streams{})
	if err != nil {
		fmt.Fprintf(w.out, "stepback: %v\n", err)
		return
	}
	found := d.Diagnose(false)
	fmt.Fprint(w.out, d.Render(found))
	lacks := asl.HasErrors(found)
	if !lacks {
		if err := d.Lacks(false); err != nil {
			fmt.Fprintf(w.out, "stepback: %v\n", err)
			lacks = true
		}
	}
	if lacks {
		fmt.Fprintf(w.out, "%s: the state machine %s was not changed\n", path, d.Name)
		return
	}
	done, err := w.put(ctx, d)
	if err != nil {
		done = workspace.SaidByAPI(err).Error()
	}
	fmt.Fprintf(w.out, "%s: state machine %s: %s\n", path, d.Name, done)
}

// put creates or updates the state machine of a definition, and returns a text that says which. If an identical
// state machine exists already, creating it succeeds.
func (w *watcher) put(ctx context.Context, d definitions.File) (string, error) {
	made, err := w.states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: &d.Name, Definition: &d.Text,
		RoleArn: &w.role})
	if err == nil {
		return "ready, " + *made.StateMachineArn, nil
	}
	var exists *sfntypes.StateMachineAlreadyExists
	if !errors.As(err, &exists) {
		return "", err
	}
	arn, err := w.find(ctx, d.Name)
	if err != nil {
		return "", err
	}
	_, err = w.states.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: &arn, Definition: &d.Text})
	return "updated, " + arn, err
}

// find returns the ARN of the state machine with a name.
func (w *watcher) find(ctx context.Context, name string) (string, error) {
	pages := sfn.NewListStateMachinesPaginator(w.states, &sfn.ListStateMachinesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for _, m := range page.StateMachines {
			if *m.Name == name {
				return *m.StateMachineArn, nil
			}
		}
	}
	return "", fmt.Errorf("the state machine %s is being deleted", name)
}
