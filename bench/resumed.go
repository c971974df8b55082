package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// resumedKills is the number of times that the command is killed before it may finish.
const resumedKills = 6

// resumedMemory measures the peak resident size of the whole command, stepback run, while it imports rows, some of
// which fail, and is killed with SIGKILL and resumed several times. Every row must be applied in the end.
func resumedMemory(rows int) measurement {
	return measurement{
		name: "peak memory, the command, " + thousands(rows) + " rows, faults, killed " +
			strconv.Itoa(resumedKills) + " times", unit: "MB", target: "≤ 200 MB", once: true,
		measure: func(ctx context.Context, dir string) (reading, error) {
			file, err := sampleFile(dir, rows)
			if err != nil {
				return reading{}, err
			}
			command := filepath.Join(dir, "stepback")
			build := exec.CommandContext(ctx, "go", "build", "-o", command, "stepback/cmd/stepback") //nolint:gosec // our own
			build.Stderr = os.Stderr
			if err := build.Run(); err != nil {
				return reading{}, err
			}
			v := victim{command: command, file: file, data: filepath.Join(dir, "data"), rows: rows}
			for range resumedKills {
				if err := v.live(ctx, 3*time.Second); err != nil {
					return reading{}, err
				}
			}
			err = v.live(ctx, 0)
			return reading{value: v.peak}, err
		},
	}
}

// victim is an import that is killed and resumed.
type victim struct {
	command, file, data string
	rows                int
	peak                float64 // MB
	ended               bool
}

// live runs the command until it ends, or until it has applied rows for lifetime; 0 means until it ends.
func (v *victim) live(ctx context.Context, lifetime time.Duration) error {
	if v.ended {
		return errors.New("the import ended before it was killed: measure with more -rows")
	}
	//nolint:gosec // the command that was built for this
	cmd := exec.CommandContext(ctx, v.command, "run", "--csv", v.file, "--data", v.data, "--virtual-time", "--json",
		"--fault", "ProcessSingleUserRecord:DeadlockException:0.5%", "--fault", "ApplyBatch:crash:0.5%",
		"--fault", "ApplyBatch:Lambda.TooManyRequestsException:0.5%")
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for began := time.Now(); ; {
		select {
		case err := <-ended:
			return v.check(err, out.Bytes(), problems.String())
		case <-look.C:
		}
		if peak, err := peakOf(cmd.Process.Pid); err == nil { // not available while it begins or ends
			v.peak = max(v.peak, peak)
		}
		if lifetime > 0 && time.Since(began) > lifetime {
			if err := cmd.Process.Kill(); err != nil {
				return err
			}
			<-ended //nolint:errcheck // it was killed
			return nil
		}
	}
}

// check checks the result of an import that was not killed.
func (v *victim) check(err error, out []byte, problems string) error {
	v.ended = true
	var report struct {
		Status string
		Rows   struct{ Applied, Total int64 }
	}
	if e := json.Unmarshal(out, &report); e != nil {
		return fmt.Errorf("the command says nothing: %w\n%s", errors.Join(err, e), problems)
	}
	if report.Status != "SUCCEEDED" || report.Rows.Applied != int64(v.rows) {
		return fmt.Errorf("the import ended %s with %+v", report.Status, report.Rows)
	}
	return nil
}

// peakOf returns the peak resident size of a process so far, in MB.
func peakOf(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb / 1024, err
		}
	}
	return 0, errors.New("the process does not tell its peak memory")
}
