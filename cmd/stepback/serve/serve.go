package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"stepback/aws"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/csvimport/pipeline"
	"stepback/engine/clock"
	"stepback/engine/journal/diskspace"
	"stepback/engine/journal/pebble"
	"stepback/internal/outbound"
	"stepback/internal/ownerfs"
	"stepback/local"
	"stepback/local/console"
	"stepback/local/endpoint"
	"stepback/local/services/lambda/standin"
	"stepback/outbox/database"
	"stepback/outbox/deadletters"
)

// Serve implements the verb serve.
type Serve struct {
	Listen         string             `default:"127.0.0.1:4566" placeholder:"HOST:PORT" help:"Address to listen on; port 0 picks one. Default 127.0.0.1:4566."`
	Data           string             `type:"datadir" default:".stepback" placeholder:"DIR|memory" help:"Data directory: executions, functions, buckets, logs; or memory, which keeps nothing when the process ends. Default .stepback."`
	MemoryLimit    terminal.ByteCount `name:"memory-limit" placeholder:"SIZE" help:"With --data memory, refuse new work while the data take more than this, such as 500MB. Default 1GB."`
	Public         bool               `help:"Allow an address that other machines can reach. Requests are not authenticated."`
	EnforceIAM     bool               `name:"enforce-iam" help:"Authorize requests signed with access keys of IAM users and roles by their policies. Requests with other keys are always allowed."`
	PrivateTargets string             `name:"private-targets" enum:"auto,allow,refuse" default:"auto" help:"Whether HTTP Tasks, API destinations, HTTP subscriptions, HTTP proxy integrations and calls of Kubernetes clusters may reach loopback, link-local and private addresses: allow, refuse, or auto, which refuses them if --listen is not a loopback address. Default auto."`
	AllowTarget    []string           `name:"allow-target" placeholder:"IP|NETWORK" help:"Address or network that is allowed although --private-targets refuses it, such as 10.1.0.0/16 (repeatable)."`
	Account        string             `default:"000000000000" help:"Account of requests whose access key is not a twelve-digit account ID."`
	Region         string             `default:"us-east-1" help:"Region of requests whose signature names none."`
	Watch          string             `type:"existingdir" placeholder:"DIR" help:"Create a state machine for every *.asl.json, *.asl.yaml and *.asl.yml file in this directory, and update it when the file changes."`
	Mock           string             `env:"SFN_MOCK_CONFIG" placeholder:"FILE" help:"Mock configuration of Step Functions Local: StartExecution on ARN#TESTCASE uses the responses of that test case."`

	definitions.Substitutions
	Lambda []string `sep:"none" placeholder:"NAME=COMMAND|URL|BOOTSTRAP" help:"Implementation of a function (repeatable), as for exec. It takes precedence over a deployed function of the same name."`
	OTLP   string   `name:"otlp" env:"OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" help:"Send ended executions as traces to an OpenTelemetry collector by OTLP over HTTP, such as http://localhost:4318."`
	Quiet  bool     `short:"q" help:"Do not print the progress of executions."`

	workspace.EmbeddedServices
	workspace.Injection
	ObjectCreated map[string]string `name:"object-created" placeholder:"BUCKET=FUNCTION" help:"Invoke a function with the \"Object Created\" event of every object put into a bucket, as an EventBridge rule would."`

	VirtualTime bool     `name:"virtual-time" help:"For tests: skip waits; timestamps advance as if the waits had taken place."`
	TimeScale   *float64 `name:"time-scale" placeholder:"N" help:"For tests: let N seconds pass in each real second, from 0.01 to 3600: with 60, a wait of an hour takes a minute. Default 1."`
	EngineSeed  uint64   `name:"engine-seed" placeholder:"N" help:"For tests: repeat jitter and random values of executions that have the same name, in every server with this seed. Default: they differ each time."`

	Retention terminal.Age `default:"90d" placeholder:"DAYSd|DURATION" help:"How long executions are kept after their end. Default 90d."`

	Console     string            `enum:"on,read-only,off" default:"on" help:"The web console: on, read-only or off. Default on."`
	Redact      []string          `sep:"none" placeholder:"NAME|PATH" help:"Payload member to hide in the console: a name, or a path such as $$.customer.card (repeatable)."`
	DeadLetters map[string]string `name:"dead-letters" placeholder:"NAME=DB" help:"Database whose dead letters the console shows under NAME: orders=sqlite:app.db (repeatable)."`

	Verbose bool `short:"v" help:"Log requests, and the reasons for refusals, to standard error. Internal errors are always logged."`

	Reserve int64 `kong:"-"` // bytes of disk space to reserve; 0 means the default

	ephemeral bool // the data directory is removed when the process ends
}

// Help shows examples.
func (Serve) Help() string {
	return `Examples:
  stepback serve
  LAMBDA_ENDPOINT=http://127.0.0.1:9001 stepback serve --listen 127.0.0.1:8083 --data /tmp/states
  stepback serve --data memory --virtual-time
  stepback serve --data memory --time-scale 60
  stepback serve --watch definitions
  stepback serve --watch definitions --lambda reserve='python3 reserve.py' --lambda charge=http://localhost:8080/charge
  stepback serve --object-created uploads=start-import
  stepback serve --console read-only --redact password --redact $.customer.card
  AWS_ENDPOINT_URL=http://127.0.0.1:4566 aws stepfunctions list-state-machines
  AWS_ENDPOINT_URL=http://127.0.0.1:4566 aws logs tail /aws/vendedlogs/states/orders --follow
  AWS_ENDPOINT_URL=http://127.0.0.1:4566 aws lambda invoke --function-name greet answer.json
  AWS_ENDPOINT_URL=http://127.0.0.1:4566 cdk deploy

One address serves Step Functions, Lambda (functions run as processes on this machine), S3 and the other services that
"stepback services" lists with their operations. cdk deploy works without changes. Executions log as their loggingConfiguration
says, functions to /aws/lambda/NAME. Tasks call the services at this address unless another endpoint is set.

All state is stored in the data directory. If the process ends or crashes, running executions resume when it is started again;
tasks that were in flight are invoked once more. With --data memory, which is for tests, nothing is synced to a disk, and
everything is gone when the process ends.`
}

// reserve is the disk space, in bytes, that is set aside so that running executions can end when the disk is full.
// While the disk is full, new executions are refused.
const reserve = 64 << 20

// Run serves until the context ends.
func (c *Serve) Run(ctx context.Context, std terminal.Streams) (err error) {
	if err := c.check(); err != nil {
		return exit.With(exit.Usage, err)
	}
	std.Err = &terminal.OneAtATime{W: std.Err}
	values, err := c.Values()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	removed, err := c.inMemory(std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removed()) }()
	cfg, err := c.config(ctx, std)
	if err != nil {
		return err
	}
	letterStores, closing, err := c.letterStores(ctx)
	if err != nil {
		return errors.Join(err, cfg.Listener.Close())
	}
	defer func() { err = errors.Join(err, closing()) }()
	cfg.Console.LetterStores = (&pipeline.PlatformLetters{Others: letterStores}).LetterStores
	standIns, err := standin.Open(ctx, c.Lambda, workspace.FunctionEnvironment("http://"+cfg.Listener.Addr().String()), std.Err)
	if err != nil {
		return errors.Join(exit.With(exit.Usage, fmt.Errorf("--lambda %w", err)), cfg.Listener.Close())
	}
	defer func() { err = errors.Join(err, workspace.CloseStandIns(ctx, standIns)) }()
	if len(c.Lambda) > 0 {
		cfg.StandIns = standIns
	}
	opened, stop, err := c.tellOthers(ctx, &cfg)
	if err != nil {
		return errors.Join(exit.With(exit.Usage, err), cfg.Listener.Close())
	}
	defer stop()
	if !c.Quiet {
		cfg.Follow = narration.NewNarrator(std.Err, std.ErrScreen()).Follow
	}
	switch {
	case c.VirtualTime:
		cfg.Clock = clock.Virtual(time.Now().Truncate(time.Second)) // timestamps of tests round alike
	case c.TimeScale != nil:
		cfg.Clock = clock.Scaled(*c.TimeScale)
	}
	p, err := local.Open(ctx, cfg)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: name a directory that you can write to with --data DIR, or keep nothing with --data memory", err)
	}
	if err != nil {
		return workspace.InUse(err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	opened(p)
	pipeline.Listen(p) //nolint:contextcheck // what listens lives as long as the platform
	defer relaying(ctx, p, cfg.Log)()
	fmt.Fprint(std.Err, c.listing(p))
	if c.Watch != "" {
		stop, err := watch(ctx, c.Watch, values, p, std.Err)
		if err != nil {
			return err
		}
		defer stop()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.Broken():
		return err
	}
}

// relaying sends the messages that imports write to the outbox, until stop is called.
func relaying(ctx context.Context, p *local.Platform, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pipeline.Relay(ctx, p, log)
	}()
	return func() {
		cancel()
		<-done
	}
}

// config returns the platform's configuration from the flags. As its last step it starts listening on the address.
func (c *Serve) config(ctx context.Context, std terminal.Streams) (cfg local.Config, err error) {
	cfg = local.Config{
		Dir: c.Data, Scope: aws.Scope{Account: c.Account, Region: c.Region}, Public: c.Public, EnforceIAM: c.EnforceIAM,
		JournalOptions: pebble.Config{Retention: time.Duration(c.Retention)},
		Space:          diskspace.Config{Reserve: cmp.Or(c.Reserve, reserve), Changed: c.tell(std)},
		Ephemeral:      c.ephemeral,
		ObjectCreated:  c.ObjectCreated, Log: c.logger(std), Resumed: workspace.Resuming(std),
		RecoverInBackground: true,
		Control:             new(workspace.Errands).Serve,
		BuiltIn:             pipeline.Functions(c.Data, c.logger(std), nil), Batches: pipeline.Batches(),
	}
	if cfg.Targets, err = c.targets(); err != nil {
		return cfg, exit.With(exit.Usage, err)
	}
	c.EmbeddedServices.Apply(&cfg)
	if err := c.Injection.Apply(&cfg); err != nil {
		return cfg, exit.With(exit.Usage, err)
	}
	if cfg.Mocks, err = workspace.OpenMocks(c.Mock); err != nil {
		return cfg, exit.With(exit.Usage, err)
	}
	cfg.EngineSeed, cfg.Overran = c.EngineSeed, workspace.Overran(std.Err)
	if c.ephemeral {
		cfg.Space.FS, cfg.Space.Limit, cfg.Space.Dir = ownerfs.Unsynced, int64(c.MemoryLimit), c.Data
	}
	cfg.Console = local.Console{Off: c.Console == "off", ReadOnly: c.Console == "read-only", Redact: c.Redact,
		Who: workspace.Operator()}
	cfg.Listener, err = c.listen(ctx)
	return cfg, err
}

// letterStores opens the databases that may hold dead letters; closing closes them.
func (c *Serve) letterStores(ctx context.Context) (letterStores []console.LetterStore, closing func() error, err error) {
	var stores []database.Outbox
	closing = func() error {
		errs := make([]error, 0, len(stores))
		for _, s := range stores {
			errs = append(errs, s.Close())
		}
		return errors.Join(errs...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.DeadLetters)) {
		store, err := workspace.OpenOutbox(ctx, c.DeadLetters[name])
		if err != nil {
			return nil, closing, errors.Join(fmt.Errorf("--dead-letters %s: %w", name, err), closing())
		}
		stores = append(stores, store)
		letterStores = append(letterStores, console.LetterStore{Name: name, Kind: deadletters.KindOutbox, Store: store})
	}
	return letterStores, closing, nil
}

// listing returns the text that lists what is served, and where.
func (c *Serve) listing(p *local.Platform) string {
	used := func(endpoint, here string) string {
		if endpoint != "" {
			return here + "; tasks use " + endpoint
		}
		return here
	}
	return fmt.Sprintf(`stepback: serving on %s
  Step Functions  executions in %s
  Lambda          %s
  S3              %s
  SQS             queues in %s
  SNS             topics in %s; stepback inbox reads their mails
  CloudWatch Logs log groups in %s
%s  metrics         %s%s, for Prometheus
  health          %s%s
%sUse it with: export AWS_ENDPOINT_URL=%s AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local
  and, for StartSyncExecution and TestState, without the host prefix sync-, which does not resolve:
    Python, AWS CLI  AWS_DISABLE_HOST_PREFIX_INJECTION=true
    JavaScript       new SFNClient({ disableHostPrefix: true })
    Go               smithyhttp.DisableEndpointHostPrefix in a middleware
    Java             SdkAdvancedClientOption.DISABLE_HOST_PREFIX_INJECTION
`, p.Endpoint, c.Data, used(c.LambdaEndpoint, "functions in "+filepath.Join(c.Data, "lambda")),
		used(c.S3Endpoint, "buckets in "+filepath.Join(c.Data, "objects")), filepath.Join(c.Data, "sqs"),
		filepath.Join(c.Data, workspace.Documents),
		filepath.Join(c.Data, workspace.LogGroups), others(p), p.Endpoint, endpoint.MetricsPath, p.Endpoint,
		endpoint.HealthPath,
		c.consoleLine(p), p.Endpoint)
}

// others names the services that have no separate line in the listing, four or five on a line.
func others(p *local.Platform) string {
	const first, further = "  and             ", "                  "
	own := []string{"Step Functions", "Lambda", "S3", "SQS", "SNS", "CloudWatch Logs"}
	var lines strings.Builder
	line := first
	for name := range p.Services() {
		if slices.Contains(own, name) {
			continue
		}
		if len(line) > 70 {
			lines.WriteString(strings.TrimSuffix(line, " ") + "\n")
			line = further
		}
		line += name + ", "
	}
	lines.WriteString(line + "as stepback services lists\n")
	return lines.String()
}

// consoleLine returns the line with the console's address.
func (c *Serve) consoleLine(p *local.Platform) string {
	switch c.Console {
	case "off":
		return ""
	case "read-only":
		return "  console         " + p.Endpoint + endpoint.ConsolePath + " (read-only)\n"
	default:
		return "  console         " + p.Endpoint + endpoint.ConsolePath + "\n"
	}
}

// logger returns a logger that writes warnings to standard error, and with --verbose all requests, too.
func (c *Serve) logger(std terminal.Streams) *slog.Logger {
	level := slog.LevelWarn
	if c.Verbose {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: level}))
}

// listen starts listening on the address.
func (c *Serve) listen(ctx context.Context) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: another program is listening there, perhaps LocalStack or another stepback; end it, or give another address with --listen", err)
	}
	return l, err
}

// tell returns a function that prints a message when the disk becomes full, and another when it has free space
// again.
func (c *Serve) tell(std terminal.Streams) func(diskspace.State) {
	return func(state diskspace.State) {
		fmt.Fprintf(std.Err, "stepback: the disk of %s %s\n", c.Data, map[diskspace.State]string{
			diskspace.Ample: "has free space again: new executions and all requests are accepted",
			diskspace.Short: "is full: new executions and requests that store something are refused until space is freed; running executions continue with the space held in reserve",
			diskspace.Full:  "is full, and the reserved space is used up: executions wait until space is freed",
		}[state])
	}
}

// isLoopback reports whether only this machine can reach a host of --listen.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// targets returns which targets are refused; nil for none.
func (c *Serve) targets() (*outbound.Policy, error) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, err
	}
	p := &outbound.Policy{}
	for _, text := range c.AllowTarget {
		allowed, err := outbound.ParseAllowed(text)
		if err != nil {
			return nil, fmt.Errorf("--allow-target: %w", err)
		}
		p.Allow = append(p.Allow, allowed)
	}
	if c.PrivateTargets == "allow" || c.PrivateTargets != "refuse" && isLoopback(host) {
		return nil, nil //nolint:nilnil // nothing is refused
	}
	return p, nil
}

// The limits of --time-scale. On a clock that is faster than the upper one, a task of a millisecond takes longer than
// the shortest timeouts.
const (
	slowest = 0.01
	fastest = 3600
)

// checkTime returns an error if the flags of time are out of range or contradict each other.
func (c *Serve) checkTime() error {
	switch {
	case c.TimeScale == nil:
		return nil
	case c.VirtualTime:
		return errors.New("--time-scale and --virtual-time exclude each other: virtual time skips waits")
	case *c.TimeScale >= slowest && *c.TimeScale <= fastest:
		return nil
	}
	return fmt.Errorf("--time-scale %v: give a number from %v to %v", *c.TimeScale, slowest, fastest)
}

// check refuses addresses that other machines can reach, unless --public allows them.
func (c *Serve) check() error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: give HOST:PORT, for example 127.0.0.1:4566", c.Listen)
	}
	if err := c.checkTime(); err != nil {
		return err
	}
	if c.Public || isLoopback(host) {
		return nil
	}
	return fmt.Errorf("--listen %s: other machines could reach this address, and requests are not authenticated; use 127.0.0.1, or add --public", c.Listen)
}
