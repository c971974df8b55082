package stepback_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inMemory is a program in another module that keeps executions in memory.
const inMemory = `package main

import (
	"context"
	"fmt"

	"MODULE"
)

type order struct{ ID string }

func main() {
	ctx := context.Background()
	app, err := stepback.New(ctx, stepback.Config{CONFIGFunctions: stepback.Functions{
		"charge": stepback.Func(func(_ context.Context, o order) (string, error) { return "receipt of " + o.ID, nil }),
	}})
	if err != nil {
		panic(err)
	}
	defer app.Close()
	orders, err := app.Define(stepback.Definition{Name: "Orders", Text: ` + "`" +
	`{"StartAt": "Charge", "States": {"Charge": {"Type": "Task", "End": true,
		"Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge"}}}` + "`" + `})
	if err != nil {
		panic(err)
	}
	run, err := orders.Start(ctx, "order-17", order{ID: "17"})
	if err != nil {
		panic(err)
	}
	var receipt string
	if err := run.Output(ctx, &receipt); err != nil {
		panic(err)
	}
	fmt.Println(receipt)
}
`

// TestAProgramOfAnotherModule builds and runs programs that use this module through a replace line, as README
// describes. The one that keeps executions in memory links four small third-party modules. Only the one with a data
// directory links Pebble.
func TestAProgramOfAnotherModule(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it links two programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in the PATH")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	name, err := exec.CommandContext(t.Context(), "go", "list", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := strings.Fields(string(name))[0] // a published copy has another one
	dir := t.TempDir()
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	command("mod", "init", "example.org/embedding")
	command("mod", "edit", "-require="+module+"@v0.0.0", "-replace="+module+"="+here)
	// The checksums of this module and its requirements make go mod tidy unnecessary, which would also look for those
	// of its tests.
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	const pebble = "github.com/cockroachdb/pebble/v2"
	memory := strings.NewReplacer("MODULE", module, "CONFIG", "")
	durable := strings.NewReplacer(
		`"fmt"`, "\"fmt\"\n\t\"os\"",
		`"MODULE"`, fmt.Sprintf("%q\n\t%q", module, module+"/engine/journal/pebble"),
		"CONFIG", "Dir: os.Args[1], Journal: pebble.OpenDir, ",
	)
	for _, c := range []struct {
		program, source string
		pebble          bool
	}{
		{"memory", memory.Replace(inMemory), false},
		{"durable", durable.Replace(inMemory), true},
	} {
		if err := os.Mkdir(filepath.Join(dir, c.program), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.program, "main.go"), []byte(c.source), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := command("run", "-mod=mod", "./"+c.program, t.TempDir()); out != "receipt of 17\n" {
			t.Errorf("%s prints %q", c.program, out)
		}
		modules := strings.Fields(command("list", "-mod=mod", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./"+c.program))
		slices.Sort(modules)
		modules = slices.DeleteFunc(slices.Compact(modules), func(m string) bool { return m == module })
		if c.pebble != slices.Contains(modules, pebble) || !c.pebble && !slices.Equal(modules, []string{
			"github.com/google/btree", "github.com/klauspost/compress", "go.yaml.in/yaml/v3", "golang.org/x/text",
		}) {
			t.Errorf("%s links %s", c.program, modules)
		}
	}
}
