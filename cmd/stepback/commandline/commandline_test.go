package commandline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"stepback/cmd/stepback/commandline"
)

type copyCmd struct {
	From   []string          `arg:"" help:"Files."`
	To     string            `required:"" type:"path" short:"t" placeholder:"DIR" help:"Where to."`
	Mode   string            `enum:"fast,slow" default:"fast" help:"One of ${enum}; default ${default}, for $$5."`
	Wait   time.Duration     `env:"COMMANDLINE_TEST_WAIT" default:"1s" help:"How long."`
	Sizes  []int             `group:"Sizes" help:"Sizes."`
	Labels map[string]string `group:"Sizes" help:"Labels."`
	Share  *float64          `help:"A share."`
	Quiet  bool              `short:"q" xor:"talk" help:"Say nothing."`
	Loud   bool              `short:"l" xor:"talk" help:"Say all."`
	Secret bool              `hidden:"" help:"Nobody's."`
}

func (copyCmd) Help() string { return "Example:\n  box copy a b --to c" }

type box struct {
	Copy  copyCmd `cmd:"" help:"Copy files."`
	Shelf struct {
		List struct {
			Of string `arg:"" optional:"" help:"Which."`
		} `cmd:"" default:"withargs" help:"List."`
		Clear struct{} `cmd:"" help:"Clear."`
	} `cmd:"" help:"Shelves."`
	Version commandline.Version `help:"The version."`
}

func parse(t *testing.T, line ...string) (*box, *commandline.Line, error) {
	t.Helper()
	b := new(box)
	read, err := commandline.New("box", "Boxes.", b).Parse(line)
	return b, read, err
}

func TestParse(t *testing.T) {
	t.Parallel()
	b, line, err := parse(t, "copy", "-qt/tmp/x", "a", "b", "--sizes=1,0x10", "--sizes", "3", "--labels=a=b;c=d", "--share=0.5")
	if err != nil {
		t.Fatal(err)
	}
	half := 0.5
	want := copyCmd{
		From: []string{"a", "b"}, To: "/tmp/x", Mode: "fast", Wait: time.Second, Sizes: []int{1, 16, 3},
		Labels: map[string]string{"a": "b", "c": "d"}, Share: &half, Quiet: true,
	}
	if !reflect.DeepEqual(b.Copy, want) || line.Verb.Target != &b.Copy || line.Verb.Name != "copy" {
		t.Errorf("%+v of %s", b.Copy, line.Verb.Name)
	}
}

func TestVerbByDefault(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{{"shelf", "top"}, {"shelf", "list", "top"}} {
		b, read, err := parse(t, line...)
		if err != nil || b.Shelf.List.Of != "top" || read.Verb.Name != "list" {
			t.Errorf("%q: %+v, %v", line, b.Shelf, err)
		}
	}
	if _, read, err := parse(t, "shelf", "--help"); err != nil || read.Verb.Name != "shelf" || !read.Help {
		t.Errorf("--help of a verb that has one by default: %+v, %v", read, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                 `expected one of "copy", "shelf"`,
		"cpy":                              `unexpected argument cpy, did you mean "copy"?`,
		"copy":                             `missing flags: --to=DIR`,
		"copy --to x":                      `expected "<from> ..."`,
		"copy a --to":                      `--to: expected file value but got "EOL" (<EOL>)`,
		"copy a --to -q":                   `--to: expected file value but got "-q" (short flag); perhaps try --to="-q"?`,
		"copy a --to x --mode=medium":      `--mode must be one of "fast","slow" but got "medium"`,
		"copy a --to x --wait=long":        `--wait: expected duration but got "long": time: invalid duration "long"`,
		"copy a --to x --sizes=1,big":      `--sizes: expected a valid 64 bit int but got "big"`,
		"copy a --to x --labels=a":         `--labels: expected "<key>=<value>" but got "a"`,
		"copy a --to x -ql":                `--quiet and --loud can't be used together`,
		"copy a --to x --quiet=perhaps":    `--quiet: bool value must be true, 1, yes, false, 0 or no but got "perhaps"`,
		"copy --to x -- --quiet b":         "",
		"copy --too x":                     `unknown flag --too, did you mean "--to"?`,
		"--help --version copy --nonsense": `unknown flag --nonsense`,
	} {
		_, _, err := parse(t, strings.Fields(line)...)
		var of *commandline.ParseError
		if fmt.Sprint(err) != want && (err != nil || want != "") || err != nil && !errors.As(err, &of) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

// A line gets what it requests first, and is not checked otherwise.
func TestFirstAsked(t *testing.T) {
	t.Parallel()
	if _, l, err := parse(t, "copy", "--version", "--help"); err != nil || !l.Version || l.Help {
		t.Errorf("%+v, %v", l, err)
	}
	if _, l, err := parse(t, "copy", "-h", "--version"); err != nil || l.Version || !l.Help {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("COMMANDLINE_TEST_WAIT", "2m")
	if b, _, err := parse(t, "copy", "a", "--to=x"); err != nil || b.Copy.Wait != 2*time.Minute {
		t.Errorf("%v, %v", b.Copy.Wait, err)
	}
	t.Setenv("COMMANDLINE_TEST_WAIT", "soon")
	if b, _, err := parse(t, "copy", "a", "--to=x", "--wait=3s"); err != nil || b.Copy.Wait != 3*time.Second {
		t.Errorf("a variable is not read for a flag that is given: %v, %v", b.Copy.Wait, err)
	}
	_, _, err := parse(t, "copy", "a", "--to=x")
	want := `--wait: expected duration but got "soon": time: invalid duration "soon" (from envar COMMANDLINE_TEST_WAIT="soon")`
	if fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestExisting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var c struct {
		File string `type:"existingfile" help:"A file."`
		Dir  string `type:"existingdir" help:"A directory."`
	}
	p := commandline.New("it", "", &c)
	if _, err := p.Parse([]string{"--file", file, "--dir", dir}); err != nil || c.File != file || c.Dir != dir {
		t.Errorf("%+v, %v", c, err)
	}
	for line, want := range map[string]string{
		"--file=" + dir:        fmt.Sprintf("--file: %q exists but is a directory", dir),
		"--dir=" + file:        fmt.Sprintf("--dir: %q exists but is not a directory", file),
		"--file=" + file + "_": "--file: stat " + file + "_: no such file or directory",
	} {
		if _, err := p.Parse([]string{line}); fmt.Sprint(err) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	p := commandline.New("box", "Boxes.", new(box))
	var got strings.Builder
	if err := p.WriteHelp(&got, p.Top().Children[0], 60); err != nil {
		t.Fatal(err)
	}
	const want = `Usage: box copy --to=DIR <from> ... [flags]

Copy files.

Example:

    box copy a b --to c

Arguments:
  <from> ...    Files.

Flags:
  -h, --help           Show context-sensitive help.
      --version        The version.

  -t, --to=DIR         Where to.
      --mode="fast"    One of fast,slow; default fast,
                       for $5.
      --wait=1s        How long ($COMMANDLINE_TEST_WAIT).
      --share=SHARE    A share.
  -q, --quiet          Say nothing.
  -l, --loud           Say all.

Sizes
  --sizes=SIZES,...         Sizes.
  --labels=KEY=VALUE;...    Labels.
`
	if got.String() != want {
		t.Errorf("%s", got.String())
	}
}

// A grammar that no line can satisfy is a bug, and is detected at once.
func TestGrammar(t *testing.T) {
	t.Parallel()
	for want, grammar := range map[string]any{
		"has two flags --a": &struct {
			A, B string `name:"a"`
		}{},
		"cannot be read": &struct{ A struct{} }{},
		"the tag hlep is not one of": &struct {
			A string `hlep:""`
		}{},
		"can never take its argument b": &struct {
			A []string `arg:""`
			B string   `arg:""`
		}{},
		"has arguments and verbs": &struct {
			A string   `arg:""`
			B struct{} `cmd:""`
		}{},
		"is required and excludes others": &struct {
			A bool `required:"" xor:"x"`
		}{},
		"there are two verbs a": &struct {
			A struct{} `cmd:""`
			B struct{} `cmd:"" name:"a"`
		}{},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("%T: %s, want %s", grammar, said, want)
				}
			}()
			commandline.New("it", "", grammar)
		}()
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"", "copy a --to x", "copy -qt/tmp a -- -b", "shelf --=", "-\xff", "copy --sizes=1,\\,2 --labels ;="} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var of *commandline.ParseError
		if _, _, err := parse(t, strings.Split(line, " ")...); err != nil && !errors.As(err, &of) {
			t.Errorf("%q: %T", line, err)
		}
	})
}
