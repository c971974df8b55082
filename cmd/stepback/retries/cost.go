package retries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"stepback/adaptive/cost"
	"stepback/adaptive/worth"
	"stepback/asl"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/durable"
	"stepback/retry"
	"stepback/statemachine"
	"stepback/tasks/faults"
)

// Cost implements the verb cost.
type Cost struct {
	File string `arg:"" optional:"" help:"State machine definition, in JSON or YAML; the ARN of an execution of a durable Lambda function, or a file with its history in JSON. Default: the CSV import."`

	Rows       terminal.Count `default:"1000000" help:"Number of rows in the imported file, such as 1000000 or 1e9."`
	Files      terminal.Count `default:"1" help:"Number of files of the same size that hold these rows and are imported as one."`
	RowBytes   float64        `default:"17" placeholder:"N" help:"Average length of a row in bytes, with its line end. Default 17, as stepback sample writes."`
	Timeout    time.Duration  `default:"24h" help:"Time limit of an import's execution, against which its duration is compared."`
	Shape      string         `enum:",bulk,batch,single" default:"" placeholder:"bulk|batch|single" help:"Only this shape of the import. Default: all three side by side."`
	Batch      int            `placeholder:"N" help:"Rows per child execution. Default 250 in bulk, 100 in batch."`
	Express    bool           `help:"Use EXPRESS child executions for the import, or treat the definition as a state machine of type EXPRESS."`
	Executions int64          `default:"1000000" help:"Number of executions of the definition."`
	Items      int64          `default:"100" help:"Number of items in each Map of the definition."`
	Memory     int            `default:"512" help:"Memory of a function, in MB."`
	Takes      time.Duration  `default:"100ms" help:"Duration of one function invocation in the definition."`
	Fault      []string       `sep:"none" placeholder:"STATE:ERROR:RATE" help:"Share of a state's attempts that fail (repeatable), to see what retries add."`
	Retention  float64        `default:"14" placeholder:"DAYS" help:"Days for which a durable function keeps what its executions wrote (RetentionPeriodInDays). Default 14."`
	JSON       bool           `name:"json" help:"Print the costs as JSON."`

	architecture
	definitions.Substitutions
	workspace.Where
}

// Help shows examples.
func (Cost) Help() string {
	return `Examples:
  stepback cost --rows 1000000
  stepback cost --rows 1e9 --timeout 48h
  stepback cost --rows 1e9 --files 1000
  stepback cost --rows 1000000 --shape bulk --fault ProcessSingleUserRecord:DeadlockException:1%
  stepback cost order.asl.yaml --executions 500000 --fault Pay:TimeoutError:2%
  stepback cost "$ARN" --executions 500000 --memory 256       # like one execution of a durable function
  aws lambda get-durable-execution-history --include-execution-data --durable-execution-arn "$ARN" > history.json
  stepback cost history.json --retention 30

Prices are for us-east-1 at the printed date, without free tiers, discounts and taxes. For an import they include the database
only while the import runs.`
}

// Run prints the costs.
func (c *Cost) Run(ctx context.Context, std terminal.Streams) error {
	if !(c.RowBytes >= 1 && c.RowBytes <= 65536) || c.Timeout <= 0 {
		return exit.With(exit.Usage, errors.New("--row-bytes must be 1 to 65536, and --timeout more than 0"))
	}
	if c.Rows < 1 || c.Executions < 1 || c.Items < 1 || c.Memory < 128 || c.Takes < 0 || c.Batch < 0 ||
		c.Batch > statemachine.MaxBatchSize {
		return exit.With(
			exit.Usage,
			fmt.Errorf("--rows, --executions and --items must be 1 or more, --memory 128 or more, --batch 1 to %d",
				statemachine.MaxBatchSize),
		)
	}
	if c.Files < 1 || c.Files > statemachine.MaxFiles || c.Files > c.Rows {
		return exit.With(
			exit.Usage,
			fmt.Errorf(
				"--files must be 1 to %s, and at most the number of rows",
				terminal.Grouped(statemachine.MaxFiles),
			),
		)
	}
	if !(c.Retention >= 1 && c.Retention <= 90) {
		return exit.With(exit.Usage, errors.New("--retention must be 1 to 90 days"))
	}
	switch {
	case c.File == "":
		return c.imports(std)
	case durable.IsARN(c.File):
		return c.execution(ctx, std)
	}
	if events, ok := executions.DurableHistoryFile(c.File); ok {
		return c.durable(events, std)
	}
	return c.definition(std)
}

// quotation is the cost of one way to run an import or an execution.
type quotation struct {
	Name  string      `json:"name"`
	Items []cost.Item `json:"items"`
	Total float64     `json:"totalUSD"`
}

func quote(name string, items []cost.Item) quotation {
	return quotation{name, items, cost.Total(items)}
}

// imports prints the costs of the import's shapes side by side.
func (c *Cost) imports(std terminal.Streams) error {
	specs, err := c.specs(statemachine.TaskStates()...)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	p := cost.DefaultPrices(c.of(worth.Arm))
	var all []quotation
	var scales []scale
	for _, shape := range statemachine.Shapes() {
		if c.Shape != "" && c.Shape != string(shape) {
			continue
		}
		run, err := c.run(shape, specs)
		if err != nil {
			return err
		}
		name := string(shape)
		if run.BatchSize > 1 {
			name += " " + strconv.Itoa(run.BatchSize)
		}
		all = append(all, quote(name, run.Items(p)))
		scales = append(scales, scale{name, run.Scale(c.Timeout, statemachine.DefaultOptions().RangeConcurrency)})
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, priced{p, all, nil, scales})
	}
	fmt.Fprintf(std.Out, "%s, in USD\n\n", terminal.Counted(int64(c.Rows), "row"))
	printQuotations(std.Out, all, p)
	printScales(std.Out, scales)
	return nil
}

// scale holds the needs of one shape of the import.
type scale struct {
	Name string `json:"name"`
	cost.Scale
}

// printScales prints the duration of an import and the limits that it comes near, for each shape.
func printScales(w io.Writer, all []scale) {
	s := all[0].Scale
	parts := terminal.Counted(int64(s.Parts), "part")
	between := "between parts"
	if s.Files == 1 {
		fmt.Fprintf(w, "\nOne file of about %.1f GB, validated and applied in %s.\n\n", s.Bytes/1e9, parts)
	} else {
		fmt.Fprintf(
			w,
			"\n%s of about %.1f MB, each validated and applied in %s; %d at a time.\n\n",
			terminal.Counted(s.Files, "file"),
			s.Bytes/1e6,
			parts,
			cost.FilesAtOnce(),
		)
		between = "validating and adding up files"
	}
	heads := append(make([]string, 0, 1+len(all)), "")
	for _, x := range all {
		heads = append(heads, ">"+x.Name)
	}
	t := terminal.NewTable(heads...)
	for _, line := range []struct {
		name string
		of   func(scale) string
	}{
		{"until the first row is applied", func(x scale) string { return rounded(x.Validating) }},
		{"applying all rows", func(x scale) string { return rounded(x.Applying) }},
		{between, func(x scale) string { return rounded(x.Between) }},
		{"state transitions at 5,000/s", func(x scale) string { return rounded(x.Transitions) }},
		{"state transitions at 800/s", func(x scale) string { return rounded(x.TransitionsElsewhere) }},
	} {
		row := append(make([]any, 0, 1+len(all)), line.name)
		for _, x := range all {
			row = append(row, line.of(x))
		}
		t.Add(row...)
	}
	for n := range s.Limits {
		row := append(make([]any, 0, 1+len(all)), "of the "+s.Limits[n].Name)
		for _, x := range all {
			row = append(row, strconv.FormatFloat(100*x.Limits[n].Share(), 'f', 1, 64)+" %")
		}
		t.Add(row...)
	}
	t.Print(w, "  ")
	fmt.Fprintln(
		w,
		"\nThe rates of the database are assumptions (10,000 rows/s in bulk, 5,000/s one by one), not measured on AWS.",
	)
	for _, x := range all {
		if first := x.First(); first.Share() >= 1 {
			fmt.Fprintf(
				w,
				"%s: the import exceeds the %s (%s %s of %s %s): %s.\n",
				x.Name,
				first.Name,
				figure(first.Needs),
				first.Unit,
				figure(first.Most),
				first.Unit,
				first.Advice,
			)
		}
	}
}

func rounded(d time.Duration) string { return terminal.Duration(d.Round(time.Second)) }

// figure formats a number with at most one decimal.
func figure(n float64) string {
	if n != math.Trunc(n) {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return terminal.Grouped(int64(n))
}

// priced is the command's JSON output.
type priced struct {
	Prices     cost.Prices  `json:"prices"`
	Quotations []quotation  `json:"quotations"`
	Execution  *cost.Answer `json:"execution,omitempty"`
	Scales     []scale      `json:"scales,omitempty"`
}

// run returns the import in a shape. The faults set the shares of its rows or batches that fail.
func (c *Cost) run(shape statemachine.Shape, specs []faults.Spec) (cost.Import, error) {
	const capacity, keptDays = 32, 30 // of prod: two instances of at most 16 units
	i := cost.Import{
		Files:     int64(c.Files),
		AsOne:     c.Files > 1,
		Rows:      int64(c.Rows),
		RowBytes:  c.RowBytes,
		Shape:     shape,
		BatchSize: c.Batch,
		Express:   c.Express,
		MemoryMB:  c.Memory,
		Capacity:  capacity,
		KeptDays:  keptDays,
	}
	switch {
	case shape == statemachine.Single:
		i.BatchSize = 1
	case c.Batch == 0 && shape == statemachine.Batch:
		i.BatchSize = 100
	case c.Batch == 0:
		i.BatchSize = statemachine.DefaultOptions().BatchSize
	}
	var retries float64
	for _, s := range specs {
		n, err := retriesOf(s)
		if err != nil {
			return i, err
		}
		expected, refused := cost.Expected(s.Rate, int64(n)), 0.0
		if cost.Refused(errorOf(s)) {
			refused = expected + math.Pow(s.Rate, float64(n)+1)
		}
		batch := shape == statemachine.Bulk && !s.OfItem()
		switch {
		case s.State == statemachine.ApplyBatch && shape == statemachine.Bulk,
			s.State == statemachine.ProcessSingleUserRecord && batch:
			i.FailingBatches += expected
			i.RefusedBatches += refused
		case s.State == statemachine.ProcessSingleUserRecord:
			i.FailingRows = min(i.FailingRows+s.Rate, 1)
			retries += expected
			i.RefusedRows += refused
		}
	}
	if i.FailingRows > 0 {
		i.Retries = retries / i.FailingRows
	}
	return i, nil
}

// retriesOf returns how many times the retry table retries a fault's error.
func retriesOf(s faults.Spec) (int, error) {
	compiled, err := statemachine.DefaultTable().Compile(s.State)
	if err != nil {
		return 0, err
	}
	for _, r := range compiled.Retry {
		for _, e := range r.ErrorEquals {
			if e == errorOf(s) || e == retry.StatesTaskFailed && errorOf(s) != retry.StatesTimeout {
				return r.MaxAttempts, nil
			}
		}
	}
	return 0, nil
}

// errorOf returns the error that a state machine receives for a fault.
func errorOf(s faults.Spec) string {
	switch s.Error {
	case faults.Hang:
		return retry.StatesTimeout
	case faults.Crash:
		return retry.RuntimeExitError
	case faults.Throttle:
		return retry.LambdaTooManyRequestsException
	}
	return s.Error
}

func (c *Cost) specs(states ...string) ([]faults.Spec, error) {
	var specs []faults.Spec
	for _, text := range c.Fault {
		spec, err := faults.ParseSpec(text, states...)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

// definition prints what executions of a definition cost, for the cheapest and the most expensive path through it.
func (c *Cost) definition(std terminal.Streams) error {
	d, err := c.Read(c.File, std)
	if err != nil {
		return err
	}
	express := c.Express || d.Express
	machine, diagnostics := asl.Options{Express: express}.Parse(d.Text)
	if machine == nil {
		kind := "a state machine"
		if express {
			kind += " of type EXPRESS"
		}
		return exit.With(exit.Usage, fmt.Errorf("%s is not %s: %w", c.File, kind, firstOf(diagnostics)))
	}
	specs, err := c.specs()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	q := cost.Question{Express: express, Items: c.Items, Faults: map[string]map[string]float64{}}
	for _, s := range specs {
		if q.Faults[s.State] == nil {
			q.Faults[s.State] = map[string]float64{}
		}
		q.Faults[s.State][errorOf(s)] = s.Rate
	}
	p := cost.DefaultPrices(c.of(worth.X86))
	a, err := cost.OfDefinition(machine, q)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("%s: %w", c.File, err))
	}
	n := float64(c.Executions)
	all := []quotation{quote("at least", a.Least.Items(n, c.Takes.Seconds(), c.Memory, p)),
		quote("at most", a.Most.Items(n, c.Takes.Seconds(), c.Memory, p))}
	if c.JSON {
		return terminal.PrintJSON(std.Out, priced{p, all, &a, nil})
	}
	fmt.Fprintf(
		std.Out,
		"%s, in USD, by the branches that Choice states take\n\n",
		terminal.Counted(c.Executions, "execution"),
	)
	printQuotations(std.Out, all, p)
	fmt.Fprintf(
		std.Out,
		"\nIf each task used all attempts of its longest retrier, the retries' transitions would add %s to %s USD.\n",
		dollars(a.Least.Worst(n, p)),
		dollars(a.Most.Worst(n, p)),
	)
	if a.Loops {
		fmt.Fprintln(std.Out, "The definition has loops; each state is counted once.")
	}
	return nil
}

func firstOf(diagnostics []asl.Diagnostic) error {
	for _, d := range diagnostics {
		if d.Severity == asl.SeverityError {
			return errors.New(d.Message)
		}
	}
	return errors.New("it has no states")
}

// printQuotations prints quotations side by side.
func printQuotations(w io.Writer, all []quotation, p cost.Prices) {
	heads := append(make([]string, 0, 1+len(all)), "")
	for _, q := range all {
		heads = append(heads, ">"+q.Name)
	}
	t := terminal.NewTable(heads...)
	for n := range all[0].Items {
		row := append(make([]any, 0, 1+len(all)), all[0].Items[n].Name)
		for _, q := range all {
			row = append(row, dollars(q.Items[n].USD))
		}
		t.Add(row...)
	}
	sum := append(make([]any, 0, 1+len(all)), "sum")
	for _, q := range all {
		sum = append(sum, dollars(q.Total))
	}
	t.Add(sum...)
	t.Print(w, "  ")
	fmt.Fprintf(
		w,
		"\nPrices of %s, %s (%s), functions on %s, without free tiers and discounts.\n",
		p.Region,
		p.Date,
		p.Source,
		p.Architecture,
	)
}

// dollars formats an amount with two decimals, or with four if it is below a cent.
func dollars(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return strconv.FormatFloat(usd, 'f', 4, 64)
	}
	return strconv.FormatFloat(usd, 'f', 2, 64)
}
