package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stepback/adaptive/lab/chart"
	"stepback/aws"
	"stepback/engine"
	"stepback/local/services/stepfunctions"
)

// curve measures how cost grows with one size. Each point is measured in a process of its own, so that it has its own
// peak memory.
type curve struct {
	name, heading string
	sizes         string // name of the size
	unit          string // what is done units(size) times
	points        []int
	// prepare leaves data in a directory, in another process than the one that is measured; nil means that there is
	// nothing to prepare. do is measured.
	prepare, do func(ctx context.Context, dir string, size int) error
	units       func(size int) int
}

func same(size int) int { return size }

// curves returns the curves of bench -scale.
func curves() []curve {
	fixed := func(n int) func(int) int { return func(int) int { return n } }
	return []curve{
		{
			"rows",
			"CSV import, SQLite",
			"rows of the file",
			"row",
			[]int{10_000, 100_000, 1_000_000, 10_000_000},
			sampleOnly,
			importSample,
			same,
		},
		{
			"kept",
			"Executions of one Pass, started and kept",
			"executions kept",
			"execution",
			[]int{1000, 10_000, 100_000, 1_000_000},
			nil,
			keepExecutions,
			same,
		},
		{
			"kept-restart",
			"Restart with executions that ended",
			"executions kept",
			"execution",
			[]int{1000, 10_000, 100_000, 1_000_000},
			keepExecutions,
			reopen,
			same,
		},
		{
			"waiting",
			"Executions that wait for an hour",
			"executions that wait",
			"execution",
			[]int{1000, 10_000, 100_000, 1_000_000},
			nil,
			leaveWaiting,
			same,
		},
		{"waiting-restart", "Restart with executions that wait", "executions that wait", "execution",
			[]int{1000, 10_000, 100_000, 1_000_000}, leaveWaiting, reopen, same},
		{
			"clients",
			"StartExecution over HTTP, durable",
			"clients",
			"request",
			[]int{1, 4, 16, 64, 256, 1000},
			nil,
			askOf(scaleStarts),
			fixed(scaleStarts),
		},
		{
			"states",
			"Chains of Pass and Choice states, durable",
			"states of the state machine",
			"transition",
			[]int{10, 100, 1000, 5000},
			nil,
			runChain,
			fixed(scaleTransitions),
		},
		{
			"payload",
			"Executions of one Pass, durable",
			"bytes of the input",
			"execution",
			[]int{100, 1000, 10_000, 100_000, 250_000},
			nil,
			payloads(scalePayloads),
			fixed(scalePayloads),
		},
	}
}

const (
	scaleStarts      = 20_000
	scalePayloads    = 2000
	scaleTransitions = 100_000
)

// sampleOnly writes the file that importSample imports.
func sampleOnly(_ context.Context, dir string, rows int) error {
	_, err := sampleFile(dir, rows)
	return err
}

func importSample(ctx context.Context, dir string, rows int) error {
	return importFile(ctx, filepath.Join(dir, "activity.csv"), filepath.Join(dir, "data"), rows)
}

// startMany starts executions of a definition, and calls each for what has to follow.
func startMany(
	ctx context.Context,
	dir, definition string,
	n int,
	each func(b *bed, started *engine.Started) error,
) (err error) {
	b, err := open(dir, nil, answer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m, err := b.Define(engine.Definition{Name: "m", Text: definition})
	if err != nil {
		return err
	}
	_, err = clients(64, n, func(_, i int) error {
		started, err := b.Start(ctx, &engine.Start{Machine: m, Origin: engine.Origin{Name: "e" + strconv.Itoa(i),
			Input: `{"n":1,"text":"a payload of a usual size, not too small"}`}})
		if err != nil {
			return err
		}
		return each(b, started)
	})
	return err
}

func keepExecutions(ctx context.Context, dir string, n int) error {
	return startMany(ctx, dir, onePass, n, func(_ *bed, started *engine.Started) error {
		_, err := started.Wait(ctx)
		return err
	})
}

func leaveWaiting(ctx context.Context, dir string, n int) error {
	return startMany(ctx, dir, `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`, n,
		func(*bed, *engine.Started) error { return nil })
}

// reopen opens a directory until its executions run again.
func reopen(ctx context.Context, dir string, _ int) (err error) {
	b, err := open(dir, nil, answer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	_, err = b.Recover(ctx)
	return err
}

// askOf returns a function that sends n StartExecution requests from as many clients as its size says.
func askOf(n int) func(ctx context.Context, dir string, goroutines int) error {
	return func(ctx context.Context, dir string, goroutines int) error {
		_, _, err := startAll(ctx, dir, goroutines, n)
		return err
	}
}

// runChain runs a state machine of so many states, one execution after the other, until scaleTransitions states have
// run.
func runChain(ctx context.Context, dir string, states int) (err error) {
	b, err := open(dir, nil, answer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m, err := b.Define(engine.Definition{Name: "m", Text: chain(states)})
	if err != nil {
		return err
	}
	for i := range scaleTransitions / states {
		if err := b.run(ctx, m, "e"+strconv.Itoa(i), `{"n":1}`); err != nil {
			return err
		}
	}
	return nil
}

// payloads returns a function that runs n executions whose input has as many bytes as its size says.
func payloads(n int) func(ctx context.Context, dir string, size int) error {
	return func(ctx context.Context, dir string, size int) (err error) {
		b, err := open(dir, nil, answer)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.Close()) }()
		service := stepfunctions.New(
			stepfunctions.Config{
				Open:    func(aws.Scope) (*engine.Engine, error) { return b.Engine, nil },
				Store:   stepfunctions.NewMemory(),
				Now:     b.clock.Now,
				Default: aws.Scope{Account: "000000000000", Region: "us-east-1"},
			},
		)
		server := httptest.NewServer(service.Handler())
		defer server.Close()
		c := newCaller(server.URL, httpClients)
		if err := c.post(
			ctx,
			"CreateStateMachine",
			fmt.Sprintf(
				`{"name":"m","definition":%q,"roleArn":"arn:aws:iam::000000000000:role/r"}`,
				onePass,
			),
		); err != nil {
			return err
		}
		input := strconv.Quote(`{"text":"` + strings.Repeat("x", max(0, size-len(`{"text":""}`))) + `"}`)
		_, err = clients(httpClients, n, func(_, i int) error {
			name := "e" + strconv.Itoa(i)
			if err := c.post(
				ctx,
				"StartExecution",
				`{"stateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:m","name":"`+
					name+`","input":`+input+`}`,
			); err != nil {
				return err
			}
			<-b.Ended("arn:aws:states:us-east-1:000000000000:execution:m:" + name)
			return nil
		})
		return err
	}
}

// point is the cost of a size: seconds of wall clock and processor time, MB of peak memory, and MB on disk.
type point struct {
	Size                               int
	Seconds, Processor, Memory, OnDisk float64
}

// scale measures the selected curves up to a size, writes their pictures to a directory, and prints their tables.
func scale(ctx context.Context, o options) error {
	for _, c := range curves() {
		if !o.only.MatchString(c.name) {
			continue
		}
		var points []point
		fmt.Fprintf(
			os.Stdout,
			"\n%s\n\n| %s | time | µs per %s | processor, µs per %s | peak memory | on disk |\n|---|---|---|---|---|---|\n",
			c.heading,
			c.sizes,
			c.unit,
			c.unit,
		)
		for _, size := range c.points {
			if size > o.most {
				break
			}
			p, err := c.measure(ctx, size)
			if err != nil {
				return fmt.Errorf("%s, %s %s: %w", c.name, thousands(size), c.sizes, err)
			}
			points = append(points, p)
			per := 1e6 / float64(c.units(size))
			fmt.Fprintf(
				os.Stdout,
				"| %s | %s s | %s | %s | %s MB | %s MB |\n",
				thousands(size),
				formatFigure(p.Seconds),
				formatFigure(
					p.Seconds*per,
				),
				formatFigure(p.Processor*per),
				formatFigure(p.Memory),
				formatFigure(p.OnDisk),
			)
		}
		if err := c.draw(points).WriteFile(filepath.Join(o.scale, c.name+".svg")); err != nil {
			return err
		}
	}
	return nil
}

// measure measures one size of a curve.
func (c curve) measure(ctx context.Context, size int) (p point, err error) {
	dir, err := os.MkdirTemp("", "stepback-bench-")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if c.prepare != nil {
		if err := c.child(ctx, "prepare", dir, size, nil); err != nil {
			return p, err
		}
	}
	err = c.child(ctx, "measure", dir, size, &p)
	return p, err
}

// child runs a part of a curve in a process of its own. The process prints a point, which is stored in p unless p is
// nil.
func (c curve) child(ctx context.Context, part, dir string, size int, p *point) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	//nolint:gosec // this program
	cmd := exec.CommandContext(
		ctx,
		self,
		"-child",
		scalePrefix+part+":"+c.name,
		"-dir",
		dir,
		"-big",
		strconv.Itoa(size),
	)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil || p == nil {
		return err
	}
	return json.Unmarshal(out, p)
}

// scalePrefix begins the job of a child process that measures a point.
const scalePrefix = "scale:"

// scaleChild measures a point and prints it.
func scaleChild(ctx context.Context, job, dir string, size int) error {
	part, name, _ := strings.Cut(strings.TrimPrefix(job, scalePrefix), ":")
	for _, c := range curves() {
		if c.name != name {
			continue
		}
		if part == "prepare" {
			return c.prepare(ctx, dir, size)
		}
		spent, err := costOf(func() error { return c.do(ctx, dir, size) })
		if err != nil {
			return err
		}
		p := point{Size: size, Seconds: spent.wall, Processor: spent.processor}
		if p.Memory, err = peakOf(os.Getpid()); err != nil {
			return err
		}
		if p.OnDisk, err = onDisk(dir); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(p)
	}
	return fmt.Errorf("there is no curve %q", name)
}

// onDisk returns the size of the files below a directory, in MB. A file that is deleted in the meantime has no size.
func onDisk(dir string) (float64, error) {
	var bytes int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "activity.csv" {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return float64(bytes) / (1 << 20), err
}

// draw returns the picture of a curve.
func (c curve) draw(points []point) *chart.Figure {
	line := func(name string, value func(p point) float64) chart.Growth {
		g := chart.Growth{Name: name}
		for _, p := range points {
			if v := value(p); v > 0 {
				g.Sizes, g.Values = append(g.Sizes, float64(p.Size)), append(g.Values, v)
			}
		}
		return g
	}
	per := func(p point) float64 { return float64(time.Second.Microseconds()) / float64(c.units(p.Size)) }
	return chart.Scale(c.heading, c.sizes,
		chart.ScalePanel{Heading: c.heading, Axis: "µs per " + c.unit, Lines: []chart.Growth{
			line("wall clock", func(p point) float64 { return p.Seconds * per(p) }),
			line("processor", func(p point) float64 { return p.Processor * per(p) }),
		}},
		chart.ScalePanel{Heading: "Memory and disk", Axis: "MB", Lines: []chart.Growth{
			line("peak memory", func(p point) float64 { return p.Memory }),
			line("on disk", func(p point) float64 { return p.OnDisk }),
		}})
}
