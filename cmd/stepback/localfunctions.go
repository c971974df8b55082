package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/services/lambda/deployment"
	locallambda "stepback/services/lambda/runner"
	"stepback/tasks/lambda"
)

// localFunctions are what exec's --lambda makes known.
type localFunctions struct {
	invokers   *invokers
	bootstraps *locallambda.Service
	env        map[string]string
	unpacked   []string // directories to remove
}

// functionTimeout is how long an invocation of a function of --lambda may take: the most that Lambda allows.
const functionTimeout = 15 * time.Minute

// openFunctions reads --lambda. The functions find the endpoint in their environment.
func openFunctions(ctx context.Context, flags []string, endpoint string, std streams) (*localFunctions, error) {
	f := &localFunctions{
		invokers:   &invokers{named: map[string]lambda.Invoker{}},
		bootstraps: locallambda.New(locallambda.Options{Logs: &printedLogs{w: std.err}}),
		env: map[string]string{
			"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": execScope.Region, "AWS_DEFAULT_REGION": execScope.Region,
			"AWS_EC2_METADATA_DISABLED": "true",
			"AWS_ACCESS_KEY_ID":         execScope.Account, "AWS_SECRET_ACCESS_KEY": "local",
		},
	}
	for _, flag := range flags {
		name, target, ok := strings.Cut(flag, "=")
		err := errors.New("give NAME=COMMAND, NAME=URL or NAME=BOOTSTRAP")
		if ok && name != "" && strings.TrimSpace(target) != "" {
			err = f.add(name, target, std)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--lambda %s: %w", flag, err), f.close(context.WithoutCancel(ctx)))
		}
	}
	return f, nil
}

// add makes one function known: by a URL, by what a Lambda runtime runs, or else by a command.
func (f *localFunctions) add(name, target string, std streams) error {
	if f.invokers.named[name] != nil {
		return errors.New("the function has been given before")
	}
	if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		in, err := newURLInvoker(target)
		f.invokers.named[name] = in
		return err
	}
	bootstrap, err := f.bootstrap(target)
	if err != nil {
		return err
	}
	if bootstrap == "" {
		f.invokers.named[name] = &commandInvoker{command: target, env: f.env, stderr: std.err}
		return nil
	}
	err = f.bootstraps.Register(locallambda.Function{
		Name: name, Command: []string{bootstrap}, Dir: filepath.Dir(bootstrap), Env: f.env, Timeout: functionTimeout,
	})
	f.invokers.named[name] = serviceInvoker{f.bootstraps}
	return err
}

// bootstrap is the path of the bootstrap binary that a target means: a file of that name, a directory or a zip file
// that has one, or what follows bootstrap:. It is empty when the target means something else.
func (f *localFunctions) bootstrap(target string) (string, error) {
	path, said := strings.CutPrefix(target, "bootstrap:")
	info, err := os.Stat(path)
	switch {
	case said && err != nil:
		return "", err
	case err != nil:
		return "", nil //nolint:nilerr // it is no file, so it is a command
	case info.IsDir():
		path = filepath.Join(path, "bootstrap")
		if !exists(path) {
			return "", fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
	case strings.HasSuffix(path, ".zip"):
		if path, err = f.unpack(path); err != nil {
			return "", err
		}
	case !said && filepath.Base(path) != "bootstrap":
		return "", nil
	}
	return filepath.Abs(path)
}

// unpack unpacks a deployment package and returns the path of its bootstrap.
func (f *localFunctions) unpack(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "stepback-function-")
	if err != nil {
		return "", err
	}
	f.unpacked = append(f.unpacked, dir)
	if err := deployment.Unpack(file, info.Size(), dir); err != nil {
		if errors.Is(err, zip.ErrFormat) {
			err = fmt.Errorf("%s is not a zip file", path)
		}
		return "", err
	}
	bootstrap := filepath.Join(dir, "bootstrap")
	if !exists(bootstrap) {
		return "", fmt.Errorf("%s has no bootstrap; functions of other runtimes run under stepback serve", path)
	}
	return bootstrap, nil
}

// close ends the functions' processes and removes what was unpacked.
func (f *localFunctions) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	err := f.bootstraps.Close(ctx)
	for _, dir := range f.unpacked {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
