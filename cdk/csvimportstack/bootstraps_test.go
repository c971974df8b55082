package csvimportstack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/csvimportstack"
	"stepback/cdk/environment"
)

// Lambda accepts any zip file and finds out only at the first invocation that it contains nothing to start.
func TestBootstrapsThatLambdaCouldNotStartAreRefused(t *testing.T) {
	for want, change := range map[string]func(t *testing.T, file string){
		"start/bootstrap: no such file or directory; build it with make lambdas-arm64, or pass its folder":                    remove,
		"start/bootstrap has permissions -rwx------, but Lambda runs it as another user":                                      private,
		"start/bootstrap is not a Linux executable":                                                                           script,
		"start/bootstrap is built for EM_X86_64, but the environment's Architecture is arm64; build it with make lambdas-for": foreign,
	} {
		folder := bootstraps(t, "arm64")
		change(t, filepath.Join(folder, "start", "bootstrap"))
		app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())})
		_, err := csvimportstack.New(app, csvimportstack.Props{Environment: environment.Dev(), BootstrapFolder: folder})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(),
			`environment "dev": bootstrap`) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func private(t *testing.T, file string) {
	t.Helper()
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func foreign(t *testing.T, file string) {
	t.Helper()
	program, err := os.ReadFile(filepath.Join(bootstraps(t, "x86_64"), "start", "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, program, 0o600); err != nil {
		t.Fatal(err)
	}
}
