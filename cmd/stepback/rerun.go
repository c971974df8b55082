package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// rerun calls do now and whenever one of the files changes, until ctx ends. It prints an error and waits for the next
// change.
func rerun(ctx context.Context, w io.Writer, files []string, do func() error) error {
	for {
		before := stamps(files)
		if err := do(); err != nil {
			var reported *exitError
			if !errors.As(err, &reported) || reported.err != nil {
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
func stamps(files []string) []stamp {
	all := make([]stamp, len(files))
	for i, path := range files {
		if info, err := os.Stat(path); err == nil {
			all[i] = stampOf(info)
		}
	}
	return all
}

// changed waits until one of the files has changed. A file that is missing does not count as changed, because some
// editors replace the file by a new one.
func changed(ctx context.Context, files []string, before []stamp) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for i, now := range stamps(files) {
			if now != (stamp{}) && now != before[i] {
				return nil
			}
		}
	}
}

// lookEvery is the interval between checks of the directory. Polling costs next to nothing, and works on network file
// systems and with editors that replace the file they edit.
const lookEvery = 500 * time.Millisecond

// stamp is a file's size and modification time, by which changes are detected.
type stamp struct {
	size     int64
	modified time.Time
}

// stampOf returns the stamp of a file.
func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime()} }
