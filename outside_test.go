package stepback_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// embedding is a program in another module.
const embedding = `package main

import (
	"context"
	"fmt"
	"os"

	"stepback"
)

type order struct{ ID string }

func main() {
	ctx := context.Background()
	app, err := stepback.New(ctx, stepback.Config{Dir: os.Args[1], Functions: stepback.Functions{
		"charge": stepback.Func(func(_ context.Context, o order) (string, error) { return "receipt of " + o.ID, nil }),
	}})
	if err != nil {
		panic(err)
	}
	defer app.Close()
	orders, err := app.Define("Orders", ` + "`" +
	`{"StartAt": "Charge", "States": {"Charge": {"Type": "Task", "End": true,
		"Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge"}}}` + "`" + `)
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

// TestAProgramOfAnotherModule builds and runs a program that uses this module through a replace line, as README
// describes.
func TestAProgramOfAnotherModule(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it links a program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in the PATH")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(embedding), 0o600); err != nil {
		t.Fatal(err)
	}
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
	command("mod", "edit", "-require=stepback@v0.0.0", "-replace=stepback="+here)
	// The checksums of this module and its requirements make go mod tidy unnecessary, which would also look for those
	// of its tests.
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := command("run", "-mod=mod", ".", t.TempDir()); out != "receipt of 17\n" {
		t.Errorf("it says %q", out)
	}
}
