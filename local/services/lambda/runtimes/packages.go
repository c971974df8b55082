package runtimes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"stepback/internal/atomicfile"
	"stepback/internal/ownerfs"
	"stepback/internal/processgroup"
)

// fetchTimeout is the time limit for fetching one package.
const fetchTimeout = 2 * time.Minute

// Packages provides the packages that AWS's runtimes include: the AWS SDKs for JavaScript and Python. They are
// fetched from the language's registry when a function first needs one, and kept. It is safe for concurrent use.
type Packages struct {
	dir      string
	fetch    bool
	fetching func(name string)

	mu sync.Mutex // one fetch at a time: npm and pip change whole directories
}

// PackagesIn returns the Packages stored in dir. If fetch is false, only packages that already exist are found.
// fetching, unless it is nil, is called before a registry is contacted.
func PackagesIn(dir string, fetch bool, fetching func(name string)) *Packages {
	if fetching == nil {
		fetching = func(string) {}
	}
	return &Packages{dir: dir, fetch: fetch, fetching: fetching}
}

// javaScript matches the packages that the runtimes of Node.js 18 and later include.
var javaScript = regexp.MustCompile(`^@(aws-sdk|smithy)/[a-z0-9-]+$`)

// ErrNotBrought is returned for a package that AWS's runtimes do not include.
var ErrNotBrought = errors.New("AWS's runtime does not bring it along")

// Folder returns the directory in which a function of the runtime finds a package. interpreter is the path of the
// interpreter that runs the function. The error says what the user can do.
func (p *Packages) Folder(ctx context.Context, runtime, interpreter, name string) (string, error) {
	switch {
	case strings.HasPrefix(runtime, "nodejs") && javaScript.MatchString(name):
		return p.node(ctx, name)
	case strings.HasPrefix(runtime, "python3.") && name == "boto3":
		return p.python(ctx, interpreter)
	}
	return "", ErrNotBrought
}

func (p *Packages) node(ctx context.Context, name string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := filepath.Join(p.dir, "node")
	modules := filepath.Join(dir, "node_modules")
	advice := fmt.Sprintf(
		"run \"npm install --prefix DIR %s\" and start stepback serve with NODE_PATH=DIR/node_modules",
		name,
	)
	return modules, p.once(dir, name, advice, func() error {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return err
		}
		return run(
			ctx,
			npm,
			"install",
			"--prefix",
			dir,
			"--no-audit",
			"--no-fund",
			"--no-update-notifier",
			"--ignore-scripts",
			"--loglevel",
			"error",
			name+"@3",
		)
	})
}

// systemPython is Debian's directory for boto3, which works with any Python 3.
const systemPython = "/usr/lib/python3/dist-packages"

func (p *Packages) python(ctx context.Context, interpreter string) (string, error) {
	if _, err := os.Stat(filepath.Join(systemPython, "boto3")); err == nil {
		return systemPython, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := filepath.Join(p.dir, "python")
	advice := fmt.Sprintf("run \"%s -m pip install boto3\", or install python3-boto3 of Debian", interpreter)
	return dir, p.once(dir, "boto3", advice, func() error {
		return run(ctx, interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
			"--target", dir, "boto3")
	})
}

// once fetches a package unless it has already been fetched. A marker file records a complete fetch, because a
// registry client that is killed leaves an incomplete package.
func (p *Packages) once(dir, name, advice string, fetch func() error) error {
	done := filepath.Join(dir, ".fetched-"+strings.NewReplacer("@", "", "/", "-").Replace(name))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if !p.fetch {
		return fmt.Errorf("AWS's runtime brings %s along, and nothing is fetched here: %s", name, advice)
	}
	p.fetching(name)
	if err := os.MkdirAll(dir, ownerfs.Dir); err != nil {
		return err
	}
	if err := fetch(); err != nil {
		return fmt.Errorf("AWS's runtime brings %s along, and it could not be fetched (%w): %s", name, err, advice)
	}
	return atomicfile.Write(done, nil, 0o600)
}

// run executes a command, including child processes. On failure the error contains the tail of its output.
func run(ctx context.Context, command string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	said, err := os.CreateTemp("", "stepback-packages-")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(said.Close(), os.Remove(said.Name())) }() // a temporary file
	//nolint:gosec,noctx // the owner's npm or pip, which has children: it is ended below
	cmd := exec.Command(command, args...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := processgroup.Start(cmd); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { processgroup.Kill(cmd) })
	defer stop()
	if err = cmd.Wait(); ctx.Err() != nil {
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	text, readErr := os.ReadFile(said.Name())
	if readErr != nil {
		return err
	}
	const most = 300
	words := strings.Join(strings.Fields(string(text)), " ")
	if len(words) > most {
		words = "…" + words[len(words)-most:]
	}
	return fmt.Errorf("%w: %s", err, words)
}
