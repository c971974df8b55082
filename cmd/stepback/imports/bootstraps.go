package imports

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"stepback/cmd/stepback/terminal"
)

// functionDirs are the folders of the Lambda functions, in the sources and next to the command.
var functionDirs = []string{"validate", "process", "aggregate"}

// bootstraps returns the directory of the bootstrap binaries: the named one, or else the one next to the command.
// If there is neither, it builds them into the data directory, from the sources around the working directory.
func bootstraps(ctx context.Context, named, data string) (string, error) {
	if named != "" {
		return named, nil
	}
	if self, err := os.Executable(); err == nil {
		if dir := filepath.Join(filepath.Dir(self), "lambdas"); haveBootstraps(dir) {
			return dir, nil
		}
	}
	if !terminal.Exists(filepath.Join("lambdas", "process", "main.go")) {
		return "", errors.New("--lambda process needs the bootstrap binaries: build them with make lambdas and name their directory with --bootstraps")
	}
	dir := filepath.Join(data, "bootstraps")
	for _, name := range functionDirs {
		if err := buildBootstrap(ctx, name, filepath.Join(dir, name, "bootstrap")); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func haveBootstraps(dir string) bool {
	for _, name := range functionDirs {
		if !terminal.Exists(filepath.Join(dir, name, "bootstrap")) {
			return false
		}
	}
	return true
}

// buildBootstrap builds one function with the Makefile's settings for AWS, but for this machine.
func buildBootstrap(ctx context.Context, name, output string) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
		"-o", output, "./lambdas/" + name}
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // fixed names
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the bootstrap of %s: %w\n%s", name, err, out)
	}
	return nil
}
