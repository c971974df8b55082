// Package rerun repeats a verb whenever the files that it reads change.
package rerun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"stepback/cmd/stepback/exit"
)

// OnChange calls do at once, and again whenever one of the files changes, until ctx ends. files returns the files and
// directories to watch; OnChange calls it after each run. A directory changes when a file is added or removed. If do
// fails, OnChange prints the error and waits for the next change. When ctx ends, it returns exit.Stopped without a
// message, because that is how such a command ends.
func OnChange(ctx context.Context, w io.Writer, files func() []string, do func() error) error {
	before := stamps(files())
	for {
		began := time.Now()
		err := do()
		if ctx.Err() != nil {
			return exit.With(exit.Stopped, nil)
		}
		if err != nil {
			var reported *exit.Error
			if !errors.As(err, &reported) || reported.Err != nil {
				fmt.Fprintf(w, "stepback: %v\n", err)
			}
		}
		watched := files()
		for path, now := range stamps(watched) {
			if _, known := before[path]; !known && now.modified.Before(began) {
				before[path] = now // do has read it for the first time
			}
		}
		fmt.Fprintf(w, "-- waiting for a change of %s; Ctrl-C ends\n", listed(watched))
		if before, err = changed(ctx, watched, before); err != nil {
			return exit.With(exit.Stopped, nil)
		}
	}
}

// listed returns the paths for a message, or their number if they are many.
func listed(paths []string) string {
	const most = 4
	if len(paths) > most {
		return fmt.Sprintf("%d files and directories", len(paths))
	}
	return strings.Join(paths, ", ")
}

// stamps returns the state of each file; the zero stamp stands for a missing file.
func stamps(files []string) map[string]Stamp {
	all := make(map[string]Stamp, len(files))
	for _, path := range files {
		all[path] = Stamp{}
		if info, err := os.Stat(path); err == nil {
			all[path] = StampOf(info)
		}
	}
	return all
}

// changed waits until one of the files has changed, and returns their new stamps. A file that is missing does not count
// as changed, because some editors replace the file by a new one.
func changed(ctx context.Context, files []string, before map[string]Stamp) (map[string]Stamp, error) {
	tick := time.NewTicker(LookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		all := stamps(files)
		for path, now := range all {
			if now != (Stamp{}) && now != before[path] {
				return all, nil
			}
		}
	}
}

// LookEvery is the interval at which files are checked for changes. Polling costs next to nothing, and works on
// network file systems and with editors that replace the file they edit.
const LookEvery = 500 * time.Millisecond

// Stamp is a file's size and modification time, by which changes are detected.
type Stamp struct {
	size     int64
	modified time.Time
}

// StampOf returns the stamp of a file.
func StampOf(info fs.FileInfo) Stamp { return Stamp{info.Size(), info.ModTime()} }
