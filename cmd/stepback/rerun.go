package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// rerun does something now and whenever one of the files changes, until the context ends. What goes wrong is printed,
// and the next change is waited for.
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

// stamps say how the files are now; that of a file that is not there is zero.
func stamps(files []string) []stamp {
	all := make([]stamp, len(files))
	for i, path := range files {
		if info, err := os.Stat(path); err == nil {
			all[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return all
}

// changed waits until one of the files is another than before. Editors that put a new file in the place of the old one
// are waited for.
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
