package retries

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"stepback/adaptive/predict"
	"stepback/cmd/stepback/terminal"
)

// Predict implements the verb predict.
type Predict struct {
	Examples PredictExamples `cmd:"" help:"Write the retries of histories as training examples."`

	Train predictTrainCmd `cmd:"" help:"Train a model of the chance that a retry succeeds, and report its quality."`
	Show  predictShowCmd  `cmd:"" help:"Print a model file's origin and quality."`
}

type predictTrainCmd struct {
	Examples string `arg:"" type:"existingfile" help:"Examples, one JSON object per line."`
	Output   string `short:"o" required:"" placeholder:"FILE" help:"The model file."`
	Seed     uint64 `default:"42" help:"Seed of the forest and the bootstrap. Default 42."`
	JSON     bool   `name:"json" help:"Print the report as JSON."`
}

// Help shows an example.
func (predictTrainCmd) Help() string {
	return `Each line is one retry: {"at":"2026-11-22T12:00:00Z","execution":"…","error":"States.Timeout","attempt":1,
"sinceFirst":2.5,"failureRate":0.3,"load":0.7,"failingFor":4,"bytes":512,"succeeded":true}, as stepback predict examples writes them. Unknown
numbers are null. The data are split by time. The simplest model that no other beats on the last part is written; if none
beats the base rate, that is the base rate, and the report says so.

Example:
  stepback predict train retries.jsonl -o model.json`
}

// Run trains a model and writes it.
func (c *predictTrainCmd) Run(_ context.Context, std terminal.Streams) error {
	f, err := os.Open(c.Examples)
	if err != nil {
		return err
	}
	all, err := readExamples(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Examples, err)
	}
	m, err := predict.Train(all, c.Seed)
	if err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.Output, text, 0o644); err != nil {
		return err
	}
	return showModel(m, c.JSON, std)
}

// longestExample limits the length of a line of examples.
const longestExample = 1 << 20

func readExamples(r io.Reader) ([]predict.Example, error) {
	var all []predict.Example
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestExample)
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		if n == 1 {
			line = terminal.WithoutMark(line)
		}
		if len(line) == 0 {
			continue
		}
		var e predict.Example
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, e)
	}
	return all, lines.Err()
}

type predictShowCmd struct {
	Model string `arg:"" type:"existingfile" help:"The model file."`
	JSON  bool   `name:"json" help:"Print it as JSON."`
}

// Help shows an example.
func (predictShowCmd) Help() string { return "Example:\n  stepback predict show model.json" }

// Run prints a model's report.
func (c *predictShowCmd) Run(_ context.Context, std terminal.Streams) error {
	text, err := terminal.ReadFile(c.Model)
	if err != nil {
		return err
	}
	m, err := predict.Read(text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Model, err)
	}
	return showModel(m, c.JSON, std)
}

func showModel(m *predict.Model, asJSON bool, std terminal.Streams) error {
	if asJSON {
		report := *m
		report.Rates, report.Logistic, report.Forest = predict.Rates{Base: m.Rates.Base}, nil, nil
		report.LogisticCalibration, report.ForestCalibration = nil, nil
		return terminal.PrintJSON(std.Out, report)
	}
	fmt.Fprintf(std.Out, "%s, of %s from %s to %s (%d to fit, %d to calibrate, %d to test)\n", m.Kind,
		terminal.Counted(m.N, "retry"),
		m.From.Format(time.DateOnly), m.To.Format(time.DateOnly), m.Train, m.Calibrate, m.Test)
	fmt.Fprintf(std.Out, "base rate %.3f; hash %.12s\n", m.Rates.Base, m.Hash)
	if !m.BeatsBaseRate() {
		fmt.Fprintf(std.Out, "no model predicts the last %d retries better than the base rate, so no model is used: "+
			"histories like these do not tell which retries will succeed\n", m.Test)
	}
	fmt.Fprintln(std.Out)
	fmt.Fprintf(std.Out, "%-13s  %6s  %11s  %10s  %6s  %8s  %s\n", "model", "Brier", "reliability", "resolution", "ECE",
		"log loss", "Brier minus that of the best before it, 95 %")
	for _, c := range m.Candidates {
		against := ""
		if c.Against != "" {
			against = fmt.Sprintf("%+.4f (%+.4f to %+.4f) against %s", c.Difference.Mean, c.Difference.Low,
				c.Difference.High,
				c.Against)
		}
		fmt.Fprintf(std.Out, "%-13s  %6.4f  %11.4f  %10.4f  %6.4f  %8.4f  %s\n", c.Kind, c.Score.Brier,
			c.Score.Reliability,
			c.Score.Resolution, c.Score.ECE, c.Score.LogLoss, against)
	}
	return nil
}
