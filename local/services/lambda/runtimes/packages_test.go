package runtimes_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stepback/local/services/lambda/runtimes"
)

// standIn places a script with a program's name before all other programs in the PATH.
func standIn(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// registry is a fake npm that creates the requested package: npm install --prefix DIR … NAME@3.
const registry = `for last; do :; done
name=${last%@3}
mkdir -p "$3/node_modules/$name"
echo "exports.from = '$name'" > "$3/node_modules/$name/index.js"
echo "$name" >> "$3/asked"`

func TestAFunctionFindsTheSDK(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	standIn(t, "npm", registry)
	for name, c := range map[string]outcome{
		"require": {"app.f", "app.js", "const c = require('@aws-sdk/client-s3')\nexports.f = async () => c.from", `{}`,
			`"@aws-sdk/client-s3"`, "", "", ""},
		"import": {"app.f", "app.mjs", "import { from } from '@aws-sdk/client-s3'\nexport const f = async () => from", `{}`,
			`"@aws-sdk/client-s3"`, "", "", ""},
		"import while it runs": {"app.f", "app.js", "exports.f = async (e) => (await import('@aws-sdk/' + e.name)).default.from",
			`{"name":"lib-dynamodb"}`, `"@aws-sdk/lib-dynamodb"`, "", "", ""},
		"another's package": {"app.f", "app.js", "require('left-pad')\nexports.f = async () => 1", `{}`, "",
			"Runtime.ImportModuleError", "Error: Cannot find module 'left-pad'", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			packages := runtimes.PackagesIn(dir, true, nil)
			s := deployedWith(t, "nodejs22.x", c.handler, map[string]string{c.file: c.text},
				func(ctx context.Context, name string) (string, error) {
					return packages.Folder(ctx, "nodejs22.x", "node", name)
				})
			c.check(t, invoke(t, s, c.payload))
			c.check(t, invoke(t, s, c.payload))
			asked, err := os.ReadFile(filepath.Join(dir, "node", "asked"))
			if n := strings.Count(string(asked), "\n"); c.errorType == "" && n != 1 || c.errorType != "" && err == nil {
				t.Errorf("npm was asked %d times: %s", n, asked)
			}
		})
	}
}

func TestAPackageThatCannotBeFetched(t *testing.T) {
	standIn(t, "npm", "echo no route to the registry >&2; exit 1")
	for name, c := range map[string]struct {
		fetch                        bool
		runtime, interpreter, wanted string
		want                         string
	}{
		"the registry is away": {true, "nodejs20.x", "node", "@aws-sdk/client-s3",
			"AWS's runtime brings @aws-sdk/client-s3 along, and it could not be fetched (exit status 1: no route to the registry): " +
				`run "npm install --prefix DIR @aws-sdk/client-s3" and start stepback serve with NODE_PATH=DIR/node_modules`},
		"nothing is to be fetched": {false, "nodejs20.x", "node", "@smithy/types",
			"AWS's runtime brings @smithy/types along, and nothing is fetched here: " +
				`run "npm install --prefix DIR @smithy/types" and start stepback serve with NODE_PATH=DIR/node_modules`},
		"a path":          {true, "nodejs20.x", "node", "@aws-sdk/../../x", "AWS's runtime does not bring it along"},
		"another package": {true, "python3.12", "python3", "requests", "AWS's runtime does not bring it along"},
		"an own runtime":  {true, "provided.al2023", "bootstrap", "boto3", "AWS's runtime does not bring it along"},
	} {
		t.Run(name, func(t *testing.T) {
			p := runtimes.PackagesIn(t.TempDir(), c.fetch, nil)
			_, err := p.Folder(t.Context(), c.runtime, c.interpreter, c.wanted)
			if err == nil || err.Error() != c.want {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

func TestPythonFindsBoto3(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boto3.py"), []byte("name = 'it'"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, folder := range map[string]func(context.Context, string) (string, error){
		`"it"`: func(context.Context, string) (string, error) { return dir, nil },
		`{"errorMessage": "Unable to import module 'app': No module named 'boto3'\nit is not here", ` +
			`"errorType": "Runtime.ImportModuleError", "requestId": "", "stackTrace": []}`: func(context.Context, string) (string, error) {
			return "", errors.New("it is not here")
		},
	} {
		s := deployedWith(t, "python3.12", "app.f",
			map[string]string{"app.py": "import sys\nsys.path = [p for p in sys.path if '-packages' not in p]\n" +
				"import boto3\ndef f(e, c): return boto3.name"}, folder)
		if out := invoke(t, s, `{}`); string(out.Payload) != want {
			t.Errorf("%s\nwant %s\n%s", out.Payload, want, out.LogTail)
		}
	}
}
