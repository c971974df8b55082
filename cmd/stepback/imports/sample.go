package imports

import (
	"context"
	"errors"
	"io"
	"os"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/csvimport/sample"
)

// Sample implements the verb sample.
type Sample struct {
	Rows     int     `default:"10000" help:"Number of rows."`
	Users    int     `placeholder:"N" help:"Number of distinct users. Default: one for four rows."`
	Seed     uint64  `default:"1" help:"Seed; the same seed gives the same file."`
	Invalid  float64 `default:"0" help:"Share of invalid rows, 0 to 1."`
	Japanese bool    `help:"Write the header in Japanese."`
	Output   string  `short:"o" type:"path" placeholder:"FILE" help:"File to write. Default: standard output."`
}

// Help shows an example.
func (Sample) Help() string {
	return "Example:\n  stepback sample --rows 100000 --seed 7 -o activity.csv"
}

// Run writes the file.
func (c *Sample) Run(_ context.Context, std terminal.Streams) error {
	if c.Rows < 0 || c.Users < 0 || c.Invalid < 0 || c.Invalid > 1 {
		return exit.With(exit.Usage, errors.New("--rows and --users must not be negative and --invalid must be between 0 and 1"))
	}
	o := sample.Options{Rows: c.Rows, Users: c.Users, Seed: c.Seed, Invalid: c.Invalid, Japanese: c.Japanese}
	if c.Output == "" {
		return sample.Write(std.Out, o)
	}
	return writeFile(c.Output, func(w io.Writer) error { return sample.Write(w, o) })
}

// writeFile writes a file; it also returns an error of closing it.
func writeFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	return write(f)
}
