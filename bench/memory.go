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
	"strings"
)

// memory measures the largest resident size of a process that imports a big file.
func memory(ctx context.Context, rows int) (result, error) {
	r := result{name: "peak memory, " + thousands(rows) + " rows", unit: "MB", target: "< 512 MB"}
	dir, err := os.MkdirTemp("", "stepback-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", dir, "-memory-rows", strconv.Itoa(rows)) //nolint:gosec // this program
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, err
	}
	var peak float64
	if err := json.Unmarshal(out, &peak); err != nil {
		return r, err
	}
	r.values = []float64{peak}
	return r, nil
}

// memoryChild imports the file and prints this process's peak resident size in MB.
func memoryChild(ctx context.Context, dir string, rows int) error {
	file, err := sampleFile(dir, rows)
	if err != nil {
		return err
	}
	if err := importFile(ctx, file, filepath.Join(dir, "data"), rows); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stdout, kb/1024)
			return nil
		}
	}
	return errors.New("/proc/self/status does not tell the peak memory")
}
