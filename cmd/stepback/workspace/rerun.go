package workspace

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

// Rerun calls do at once, and again whenever one of the files changes, until ctx ends. If do fails, Rerun prints
// the error and waits for the next change.
func Rerun(ctx context.Context, w io.Writer, files []string, do func() error) error {
	for {
		before := stamps(files)
		if err := do(); err != nil {
			var reported *exit.Error
			if !errors.As(err, &reported) || reported.Err != nil {
				fmt.Fprintf(w, "stepback: %v\n", err)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(w, "-- waiting for a change of %s; Ctrl-C ends\n", strings.Join(files, ", "))
		if err := changed(ctx, files, before); err != nil {
			return err
		}
	}
}

// stamps returns the state of each file; the zero stamp stands for a missing file.
func stamps(files []string) []Stamp {
	all := make([]Stamp, len(files))
	for i, path := range files {
		if info, err := os.Stat(path); err == nil {
			all[i] = StampOf(info)
		}
	}
	return all
}

// changed waits until one of the files has changed. A file that is missing does not count as changed, because some
// editors replace the file by a new one.
func changed(ctx context.Context, files []string, before []Stamp) error {
	tick := time.NewTicker(LookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for i, now := range stamps(files) {
			if now != (Stamp{}) && now != before[i] {
				return nil
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
