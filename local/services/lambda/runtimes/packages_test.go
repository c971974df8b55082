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
			"AWS's runtime or layer brings @aws-sdk/client-s3 along, and it could not be fetched (exit status 1: no route to the registry): " +
				`run "npm install --prefix DIR @aws-sdk/client-s3" and start stepback serve with NODE_PATH=DIR/node_modules`},
		"nothing is to be fetched": {false, "nodejs20.x", "node", "@smithy/types",
			"AWS's runtime or layer brings @smithy/types along, and nothing is fetched here: " +
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

// powertools is the ARN of AWS's public layer of Powertools for Python.
const powertools = "arn:aws:lambda:eu-west-1:017000801446:layer:AWSLambdaPowertoolsPython:22"

// pip is a fake interpreter that "installs" modules of Powertools: python -m pip install … --target DIR REQUIREMENT.
const pip = `for last; do dir=$before; before=$last; done
echo "$last" >> "$dir.asked"
mkdir -p "$dir"
echo "name = 'the layer'" > "$dir/aws_lambda_powertools.py"
echo "name = 'its jmespath'" > "$dir/jmespath.py"`

func TestAPublicLayerIsProvided(t *testing.T) {
	standIn(t, "fakepython", pip)
	interpreter, err := exec.LookPath("fakepython")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		layers []string
		want   string
	}{
		"with the layer": {[]string{powertools}, `"the layer, its jmespath"`},
		"without": {nil, `{"errorMessage": "Unable to import module 'app': No module named 'jmespath'", ` +
			`"errorType": "Runtime.ImportModuleError", "requestId": "", "stackTrace": []}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			packages := runtimes.PackagesIn(dir, true, nil)
			s := deployedWith(t, "python3.12", "app.f", map[string]string{"app.py": "import sys\n" +
				"sys.path = [p for p in sys.path if '-packages' not in p]\nimport jmespath, aws_lambda_powertools as p\n" +
				"def f(e, c): return p.name + ', ' + jmespath.name"},
				func(ctx context.Context, name string) (string, error) {
					return packages.Folder(ctx, "python3.12", interpreter, name, c.layers...)
				})
			if out := invoke(t, s, `{}`); string(out.Payload) != c.want {
				t.Errorf("%s\nwant %s\n%s", out.Payload, c.want, out.LogTail)
			}
			asked, err := os.ReadFile(filepath.Join(dir, "python-layers.asked"))
			if want := "aws-lambda-powertools[all]\n"; c.layers != nil && string(asked) != want || c.layers == nil && err == nil {
				t.Errorf("pip was asked for %q, %v", asked, err)
			}
		})
	}
}

func TestPublicLayersByARN(t *testing.T) {
	t.Parallel()
	for arn, want := range map[string]bool{
		powertools: true,
		"arn:aws:lambda:us-east-1:017000801446:layer:AWSLambdaPowertoolsPythonV3-python312-arm64:7": true,
		"arn:aws:lambda:us-east-1:094274105915:layer:AWSLambdaPowertoolsTypeScriptV2:20":            true,
		"arn:aws:lambda:us-east-1:123456789012:layer:AWSLambdaPowertoolsPython:22":                  false,
		"arn:aws:lambda:us-east-1:017000801446:layer:Another:1":                                     false,
		"arn:aws:lambda:us-east-1:017000801446:layer:AWSLambdaPowertoolsPython":                     false,
	} {
		if got := runtimes.PublicLayer(arn); got != want {
			t.Errorf("%s: %v, want %v", arn, got, want)
		}
	}
}

// TestAnEndedRuntimeFindsTheOldSDK: the runtimes of Node.js 16 and earlier include version 2 of the SDK, and no version
// 3.
func TestAnEndedRuntimeFindsTheOldSDK(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	standIn(t, "npm", strings.ReplaceAll(registry, "@3", "@2")+`
echo "exports.config = { update(c) { Object.assign(this, c) } }" > "$3/node_modules/$name/global.js"
echo "exports.config = require('./global').config" >> "$3/node_modules/$name/index.js"`)
	dir := t.TempDir()
	packages := runtimes.PackagesIn(dir, true, nil)
	s := deployedWith(t, "nodejs16.x", "app.f", map[string]string{
		"app.js": "process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:8083'\nconst sdk = require('aws-sdk')\nexports.f = async () => sdk.from + ' ' + sdk.config.endpoint"},
		func(ctx context.Context, name string) (string, error) {
			return packages.Folder(ctx, "nodejs16.x", "node", name)
		})
	if out := invoke(t, s, `{}`); string(out.Payload) != `"aws-sdk http://127.0.0.1:8083"` {
		t.Errorf("%s\n%s", out.Payload, out.LogTail)
	}
	if _, err := packages.Folder(t.Context(), "nodejs20.x", "node", "aws-sdk"); !errors.Is(err, runtimes.ErrNotBrought) {
		t.Errorf("Node.js 20: %v", err)
	}
	if _, err := packages.Folder(t.Context(), "nodejs16.x", "node", "@aws-sdk/client-s3"); !errors.Is(err, runtimes.ErrNotBrought) {
		t.Errorf("Node.js 16: %v", err)
	}
}
