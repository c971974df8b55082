package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
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

// Run implements the verb run.
type Run struct {
	CSV         string             `name:"csv" xor:"what" type:"existingfile" placeholder:"FILE" help:"File to import, with the columns user_id, login_count and post_count. Default: a generated file of 10,000 rows."`
	Files       string             `type:"path" xor:"what" placeholder:"DIR|MANIFEST" help:"Import many files as one: those in a folder and the folders below it that end in .csv, .tsv or .txt, or those that a manifest lists, a text file with a path in each line."`
	Estimate    bool               `help:"Print the number of rows, and the cost and duration on AWS, and import nothing."`
	Data        string             `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory: objects, database, journal, logs. Default .stepback."`
	VirtualTime bool               `help:"Skip waits; timestamps advance as if the waits had taken place."`
	Patience    time.Duration      `placeholder:"DURATION" help:"With --virtual-time: how long a function may really take before it is considered hung and its state times out. Default: the state's TimeoutSeconds, at least 5s."`
	Concurrency *int               `placeholder:"N" help:"Maximum number of concurrent child executions. Default 80 in bulk, 16 in other shapes."`
	Shape       string             `enum:",bulk,batch,single" default:"" placeholder:"bulk|batch|single" help:"How a child execution processes its rows: all in one invocation, then the remaining ones one by one (bulk, the default); one invocation per row (batch); or a single row (single)."`
	Batch       *int               `placeholder:"N" help:"Rows per child execution, 1 to 500. Default 250, or 100 for --shape batch. With 1 the shape is single."`
	Tolerated   float64            `name:"tolerated-failure-percentage" default:"5" help:"Share of rows that may be rejected or dead-lettered."`
	MaxBytes    terminal.ByteCount `env:"CSV_MAX_BYTES" placeholder:"SIZE" help:"Maximum size of the file, such as 2GiB, 500MB or a number of bytes. Default 100GiB."`
	PartBytes   terminal.ByteCount `env:"CSV_PART_BYTES" placeholder:"SIZE" help:"Size above which a file is validated and applied in parts, up to 1GiB. Smaller parts need less time and disk for the results of one part, larger ones fewer steps. Default 128MiB."`
	DB          string             `name:"db" default:"sqlite" placeholder:"sqlite|postgres://…" help:"Database of the user counters."`
	Lambda      string             `enum:"in-process,process" default:"in-process" help:"Run the functions in this process, or as the bootstrap binaries deployed to AWS."`
	Bootstraps  string             `type:"path" placeholder:"DIR" help:"Directory with NAME/bootstrap binaries, for --lambda process. Default: build them from source."`
	Again       bool               `help:"Import a file that was already imported. Applied rows are not applied twice. Dead-lettered rows stay closed: import the corrections file for them."`
	JSON        bool               `name:"json" help:"Print the report as JSON."`
	Verbose     bool               `short:"v" help:"Print the logs of the functions and the engine to standard error."`

	workspace.Injection
}

// Help shows examples.
func (Run) Help() string {
	return `Examples:
  stepback run
  stepback run --csv activity.csv --fault ApplyBatch:DatabaseConnectionError:50%
  stepback run --csv activity.csv --shape single --fault ProcessSingleUserRecord:hang:1% --virtual-time --json
  stepback run --files uploads/
  stepback run --files uploads/ --estimate

In bulk, the default shape, ApplyBatch applies the rows, and ProcessSingleUserRecord only those that are left.

Importing the same file again with the same data directory changes nothing and prints the earlier report. If the process was killed,
the next run resumes the import. After Ctrl-C the next run starts over; rows that were applied are not applied twice.`
}

// Run imports the file and prints the report.
func (c *Run) Run(ctx context.Context, std terminal.Streams) error {
	if c.Estimate {
		return c.estimated(std)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// Alone imports the file on a platform that it opens, and serves clients during the import.
func (c *Run) Alone(ctx context.Context, std terminal.Streams) error {
	cfg, err := c.config(ctx, std)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	others := &workspace.Errands{}
	cfg.Version, cfg.Control = buildinfo.Version(), others.Serve
	p, err := pipeline.Open(ctx, cfg)
	if err != nil {
		return opening(err)
	}
	for _, x := range p.Resumed() {
		workspace.Resuming(std)(x)
	}
	printed, err := c.imported(ctx, p, std)
	p.Release()
	others.Wait(ctx)
	if e := p.Close(); err == nil && e != nil {
		err = fmt.Errorf("closing the data directory: %w", e)
	}
	if err != nil {
		return stopped(err)
	}
	return printed()
}

// imported imports the file or files and returns a function that prints the report.
func (c *Run) imported(ctx context.Context, p *pipeline.Pipeline, std terminal.Streams) (func() error, error) {
	if c.Files == "" {
		report, err := c.importFile(ctx, p, std)
		return func() error { return c.print(report, std) }, err
	}
	many, err := c.importFiles(ctx, p, std)
	return func() error {
		if c.JSON {
			if err := terminal.PrintJSON(std.Out, many); err != nil {
				return err
			}
		} else {
			printMany(std.Out, many)
		}
		return statusOf(many.verdict())
	}, err
}

// On imports the file in the process that has the data directory open, through its platform.
func (c *Run) On(ctx context.Context, std terminal.Streams, platform *local.Platform) (err error) {
	if len(c.Fault) > 0 || c.VirtualTime || c.Patience != 0 || c.Verbose {
		return workspace.EndFirst(platform,
			"--fault, --virtual-time, --patience and --verbose are not available (give --fault to stepback serve)")
	}
	cfg, err := c.config(ctx, std)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	p, err := pipeline.On(ctx, platform, cfg)
	if err != nil {
		return opening(err)
	}
	printed, err := c.imported(ctx, p, std)
	if err = errors.Join(err, p.Close()); err != nil {
		return stopped(err)
	}
	return printed()
}

// opening converts an error from opening a pipeline: for an invalid setting it returns a usage error.
func opening(err error) error {
	var wrong *pipeline.ConfigError
	if errors.As(err, &wrong) {
		return exit.With(exit.Usage, err)
	}
	return stopped(err)
}

// stopped returns an error that says how to continue after Ctrl-C; other errors are returned unchanged.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return exit.With(exit.Stopped, errors.New("stopped; run the same command again to finish the import"))
	}
	return err
}

func (c *Run) config(ctx context.Context, std terminal.Streams) (pipeline.Config, error) {
	cfg := pipeline.Config{
		Dir: c.Data, Database: c.DB, Shape: statemachine.Shape(c.Shape),
		ToleratedFailurePercentage: &c.Tolerated,
		MaxBytes:                   int64(c.MaxBytes), PartBytes: int64(c.PartBytes), VirtualTime: c.VirtualTime,
		Patience: c.Patience,
		Overran:  workspace.Overran(std.Err),
		DiskFull: func() {
			fmt.Fprintf(std.Err, "\nstepback: the disk of %s is full; applied rows are not lost. Free space and run the same command again to finish the import\n", c.Data)
			os.Exit(exit.Failure)
		},
	}
	if c.Patience < 0 {
		return cfg, fmt.Errorf("--patience %s is not a positive duration", c.Patience)
	}
	if c.Batch != nil {
		cfg.Batch = *c.Batch
	}
	if c.Concurrency != nil {
		cfg.Concurrency = *c.Concurrency
	}
	if c.Concurrency != nil && *c.Concurrency == 0 || c.Batch != nil && *c.Batch == 0 {
		return cfg, errors.New("--concurrency and --batch must be 1 or more")
	}
	var injected local.Config
	if err := c.Apply(&injected, statemachine.TaskStates()...); err != nil {
		return cfg, err
	}
	for _, text := range c.Fault {
		if strings.HasSuffix(text, ":1") {
			fmt.Fprintf(std.Err, "--fault %s fails every task; 1%% fails one in a hundred\n", text)
		}
	}
	cfg.Faults, cfg.Seed = injected.Faults, injected.Seed
	if c.Verbose {
		cfg.Log = slog.New(slog.NewTextHandler(std.Err, nil))
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

func (c *Run) importFile(ctx context.Context, p *pipeline.Pipeline, std terminal.Streams) (*pipeline.Report, error) {
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
func (c *Run) print(r *pipeline.Report, std terminal.Streams) error {
	if c.JSON {
		if err := terminal.PrintJSON(std.Out, r); err != nil {
			return err
		}
	} else {
		printReport(std.Out, r, c.Data, c.CSV)
	}
	return statusOf(r.Verdict())
}

// statusOf returns an error with the exit status of a verdict.
func statusOf(v pipeline.Verdict) error {
	switch v {
	case pipeline.Complete:
		return nil
	case pipeline.NeedsPerson:
		return exit.With(exit.Data, nil)
	default:
		return exit.With(exit.Failure, nil)
	}
}
