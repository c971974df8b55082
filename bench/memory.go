package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"stepback/engine"
)

// memory measures the peak resident size of a process that does a big job: a CSV import of rows, or a distributed Map
// of children.
func memory(job string, n, limit int) measurement {
	return measurement{
		name: "peak memory, " + thousands(n) + " " + job, unit: "MB", target: fmt.Sprintf("< %d MB", limit), once: true,
		measure: func(ctx context.Context, dir string) (reading, error) {
			self, err := os.Executable()
			if err != nil {
				return reading{}, err
			}
			//nolint:gosec // this program
			cmd := exec.CommandContext(ctx, self, "-child", job, "-dir", dir, "-big", strconv.Itoa(n))
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				return reading{}, err
			}
			var s reading
			err = json.Unmarshal(out, &s.value)
			return s, err
		},
	}
}

// memoryChild does the job and prints this process's peak resident size in MB.
func memoryChild(ctx context.Context, job, dir string, n int) error {
	do := importRows
	switch job {
	case "children":
		do = runChildren
	case "suspended":
		do = func(ctx context.Context, dir string, _ int) error {
			_, err := reopened(ctx, dir)
			return err
		}
	}
	if err := do(ctx, dir, n); err != nil {
		return err
	}
	peak, err := peakOf(os.Getpid())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, peak)
	return err
}

func importRows(ctx context.Context, dir string, n int) error {
	file, err := sampleFile(dir, n)
	if err != nil {
		return err
	}
	return importFile(ctx, file, filepath.Join(dir, "data"), n)
}

// runChildren runs a distributed Map over the lines of an object, and writes the results to objects.
func runChildren(ctx context.Context, dir string, n int) (err error) {
	b, err := open(dir, &files{dir: dir, lines: n}, answer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m, err := b.Define(engine.Definition{Name: "m", Text: passMap(1,
		`"ItemReader":{"Resource":"arn:aws:states:::s3:getObject","ReaderConfig":{"InputType":"JSONL"},"Parameters":{"Bucket":"b","Key":"k"}},`,
		`"ResultWriter":{"Resource":"arn:aws:states:::s3:putObject","Parameters":{"Bucket":"b","Prefix":"p"}},`)})
	if err != nil {
		return err
	}
	return b.run(ctx, m, "e", "{}")
}
