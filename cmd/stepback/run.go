package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/csvimport/pipeline"
	"stepback/csvimport/sample"
	"stepback/local"
	"stepback/statemachine"
)

// sampleRows and sampleSeed define the bundled sample, which run imports without --csv.
const (
	sampleRows = 10_000
	sampleSeed = 1
)

type runCmd struct {
	CSV         string        `name:"csv" type:"existingfile" placeholder:"FILE" help:"File to import, with the columns user_id, login_count and post_count; a made-up one of 10,000 rows when absent."`
	Data        string        `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory: objects, database, journal, logs. Default .stepback."`
	VirtualTime bool          `help:"Let waits pass at once; timestamps are as if they had been waited for."`
	Patience    time.Duration `placeholder:"DURATION" help:"With --virtual-time: take a function that really takes longer for one that hangs, and let its state's timeout pass. Default: as long as the state's TimeoutSeconds."`
	Concurrency *int          `placeholder:"N" help:"Child executions at one time. Default 80 in bulk, 16 in other shapes."`
	Shape       string        `enum:",bulk,batch,single" default:"" placeholder:"bulk|batch|single" help:"What a child execution does with its rows: all in one invocation and those that this leaves one by one (bulk, the default), an invocation for each (batch), or one row (single)."`
	Batch       *int          `placeholder:"N" help:"Rows per child execution, 1 to 500. Default 250, in the shape batch 100; 1 is the shape single."`
	Tolerated   float64       `name:"tolerated-failure-percentage" default:"5" help:"Share of rows that may be rejected or dead-lettered."`
	MaxBytes    byteCount     `env:"CSV_MAX_BYTES" placeholder:"SIZE" help:"Size of the largest file that is imported, such as 2GiB, 500MB or a number of bytes. Default 100MiB."`
	DB          string        `name:"db" default:"sqlite" placeholder:"sqlite|postgres://…" help:"Database of the user counters."`
	Lambda      string        `enum:"in-process,process" default:"in-process" help:"Run the functions in this process, or as the bootstrap binaries that AWS gets."`
	Bootstraps  string        `type:"path" placeholder:"DIR" help:"Where NAME/bootstrap binaries are, with --lambda process; built from the sources when absent."`
	Again       bool          `help:"Import a file once more that was imported before. Rows that were applied stay applied once; those that were dead-lettered stay closed: import the corrections file."`
	JSON        bool          `name:"json" help:"Print the report as JSON."`
	Verbose     bool          `short:"v" help:"Print what the functions and the engine log, to standard error."`

	injection
}

// Help shows examples.
func (runCmd) Help() string {
	return `Examples:
  stepback run
  stepback run --csv activity.csv --fault ProcessSingleUserRecord:DatabaseConnectionError:0.1
  stepback run --csv activity.csv --fault ProcessSingleUserRecord:hang:1% --virtual-time --json

The same file again on the same data directory changes nothing and shows the earlier report. A run whose process was killed goes on
where it was; one that was stopped by Ctrl-C is made again, and records that were applied are not applied twice.`
}

// Run imports the file and prints the report.
func (c *runCmd) Run(ctx context.Context, std streams) error { return onDirectory(ctx, std, c.Data, c) }

// alone imports the file on a platform that it opens, and serves clients during the import.
func (c *runCmd) alone(ctx context.Context, std streams) error {
	cfg, err := c.config(ctx, std)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	others := &errands{}
	cfg.Version, cfg.Control = version(), others.serve
	p, err := pipeline.Open(ctx, cfg)
	if err != nil {
		return opening(err)
	}
	for _, x := range p.Resumed() {
		resuming(std)(x)
	}
	report, err := c.importFile(ctx, p, std)
	p.Release()
	others.wait(ctx)
	if e := p.Close(); err == nil && e != nil {
		err = fmt.Errorf("closing the data directory: %w", e)
	}
	if err != nil {
		return stopped(err)
	}
	return c.print(report, std)
}

// on imports the file in the process that has the data directory open, through its platform.
func (c *runCmd) on(ctx context.Context, std streams, platform *local.Platform) (err error) {
	if len(c.Fault) > 0 || c.VirtualTime || c.Patience != 0 || c.Verbose {
		return endFirst(platform,
			"--fault, --virtual-time, --patience and --verbose cannot be had (give --fault to stepback serve)")
	}
	cfg, err := c.config(ctx, std)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	p, err := pipeline.On(ctx, platform, cfg)
	if err != nil {
		return opening(err)
	}
	report, err := c.importFile(ctx, p, std)
	if err = errors.Join(err, p.Close()); err != nil {
		return stopped(err)
	}
	return c.print(report, std)
}

// opening converts an error of opening a pipeline: an invalid setting is a usage error.
func opening(err error) error {
	var wrong *pipeline.ConfigError
	if errors.As(err, &wrong) {
		return &exitError{exitUsage, err}
	}
	return stopped(err)
}

// stopped returns an error that says how to continue after Ctrl-C; other errors are returned unchanged.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{exitStopped, errors.New("stopped; run the same command again to finish the import")}
	}
	return err
}

func (c *runCmd) config(ctx context.Context, std streams) (pipeline.Config, error) {
	cfg := pipeline.Config{
		Dir: c.Data, Database: c.DB, Shape: statemachine.Shape(c.Shape),
		ToleratedFailurePercentage: &c.Tolerated,
		MaxBytes:                   int64(c.MaxBytes), VirtualTime: c.VirtualTime, Patience: c.Patience,
		DiskFull: func() {
			fmt.Fprintf(std.err, "\nstepback: the disk of %s is full; nothing that was applied is lost: make room and run the same command again to finish the import\n", c.Data)
			os.Exit(exitFailure)
		},
	}
	if c.Patience < 0 {
		return cfg, fmt.Errorf("--patience %s is not a time that passes", c.Patience)
	}
	if c.Batch != nil {
		cfg.Batch = *c.Batch
	}
	if c.Concurrency != nil {
		cfg.Concurrency = *c.Concurrency
	}
	if c.Concurrency != nil && *c.Concurrency == 0 || c.Batch != nil && *c.Batch == 0 {
		return cfg, errors.New("--concurrency and --batch are 1 or more")
	}
	var injected local.Config
	if err := c.apply(&injected, statemachine.TaskStates()...); err != nil {
		return cfg, err
	}
	for _, text := range c.Fault {
		if strings.HasSuffix(text, ":1") {
			fmt.Fprintf(std.err, "--fault %s befalls every task; 1%% befalls one in a hundred\n", text)
		}
	}
	cfg.Faults, cfg.Seed = injected.Faults, injected.Seed
	if c.Verbose {
		cfg.Log = slog.New(slog.NewTextHandler(std.err, nil))
	}
	if c.Lambda == "process" {
		dir, err := bootstraps(ctx, c.Bootstraps, c.Data)
		if err != nil {
			return cfg, err
		}
		cfg.Bootstraps = dir
	}
	return cfg, nil
}

func (c *runCmd) importFile(ctx context.Context, p *pipeline.Pipeline, std streams) (*pipeline.Report, error) {
	file := c.CSV
	if file == "" {
		file = filepath.Join(c.Data, fmt.Sprintf("sample-%d-rows.csv", sampleRows))
		err := writeFile(file, func(w io.Writer) error {
			return sample.Write(w, sample.Options{Rows: sampleRows,
				Seed: sampleSeed})
		})
		if err != nil {
			return nil, err
		}
	}
	if c.JSON {
		return p.Import(ctx, file, c.Again, nil)
	}
	bar := newProgress(std, filepath.Base(file))
	defer bar.done()
	return p.Import(ctx, file, c.Again, bar.update)
}

// print prints the report and returns an error with the exit status.
func (c *runCmd) print(r *pipeline.Report, std streams) error {
	if c.JSON {
		if err := printJSON(std.out, r); err != nil {
			return err
		}
	} else {
		printReport(std.out, r, c.Data, c.CSV)
	}
	switch r.Verdict() {
	case pipeline.Complete:
		return nil
	case pipeline.NeedsPerson:
		return &exitError{code: exitData}
	default:
		return &exitError{code: exitFailure}
	}
}

// exists reports whether a file exists or may exist: if it cannot be reached, opening it reports the reason.
func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
