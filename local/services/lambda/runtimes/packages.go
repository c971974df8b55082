package runtimes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/internal/atomicfile"
	"stepback/internal/lazyregexp"
	"stepback/internal/ownerfs"
	"stepback/internal/processgroup"
)

// fetchTimeout is the time limit for fetching one package.
const fetchTimeout = 2 * time.Minute

// Packages provides the packages that AWS's runtimes include, the AWS SDKs for JavaScript and Python, and those of
// AWS's public layers of Powertools. They are fetched from the language's registry when a function first needs one, and
// kept. It is safe for concurrent use.
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

// javaScript matches the packages that the runtimes of Node.js 18 and later include. Those of Node.js 16 and earlier
// include oldJavaScript instead.
var javaScript = lazyregexp.New(`^@(aws-sdk|smithy)/[a-z0-9-]+$`)

const oldJavaScript = "aws-sdk"

// publicLayer is a layer that AWS publishes for all accounts. Functions that use one find its packages here as they
// find those of the runtime; the version is the registry's newest that fits, and not that of the layer.
type publicLayer struct {
	arn      *lazyregexp.Regexp
	runtimes string             // the beginning of their names
	packages *lazyregexp.Regexp // the packages that functions import
	// install is the requirement that npm or pip installs; empty means the package itself.
	install string
}

var publicLayers = []publicLayer{
	{
		arn:      lazyregexp.New(`^arn:aws[a-z-]*:lambda:[a-z0-9-]+:017000801446:layer:AWSLambdaPowertoolsPython[A-Za-z0-9_-]*:\d+$`),
		runtimes: "python3.",
		packages: lazyregexp.New(`^(aws_lambda_powertools|aws_xray_sdk|fastjsonschema|jmespath|pydantic)$`),
		install:  "aws-lambda-powertools[all]",
	},
	{
		arn:      lazyregexp.New(`^arn:aws[a-z-]*:lambda:[a-z0-9-]+:094274105915:layer:AWSLambdaPowertoolsTypeScript[A-Za-z0-9_-]*:\d+$`),
		runtimes: "nodejs",
		packages: lazyregexp.New(`^@aws-lambda-powertools/[a-z0-9-]+$`),
	},
}

// PublicLayer reports whether an ARN is that of a version of a layer that AWS publishes and that is provided here:
// Powertools for Python or TypeScript.
func PublicLayer(arn string) bool {
	return slices.ContainsFunc(publicLayers, func(l publicLayer) bool { return l.arn.MatchString(arn) })
}

// layerOf returns the public layer among those with the given ARNs that has a package.
func layerOf(runtime, name string, layers []string) (publicLayer, bool) {
	for _, l := range publicLayers {
		fits := strings.HasPrefix(runtime, l.runtimes) && l.packages.MatchString(name)
		if fits && slices.ContainsFunc(layers, l.arn.MatchString) {
			return l, true
		}
	}
	return publicLayer{}, false
}

// ErrNotBrought is returned for a package that AWS's runtimes do not include.
var ErrNotBrought = errors.New("AWS's runtime does not bring it along")

// Folder returns the directory in which a function of the runtime finds a package. interpreter is the path of the
// interpreter that runs the function, and layers are the ARNs of its layers. The error says what the user can do; it is
// ErrNotBrought if neither AWS's runtime nor a public layer of the function has the package.
func (p *Packages) Folder(ctx context.Context, runtime, interpreter, name string, layers ...string) (string, error) {
	old := Ended(runtime)
	l, public := layerOf(runtime, name, layers)
	switch {
	case public && l.install != "":
		return p.python(ctx, interpreter, l.install)
	case public:
		return p.node(ctx, name, "")
	case strings.HasPrefix(runtime, "nodejs") && old && name == oldJavaScript:
		return p.node(ctx, name, "@2")
	case strings.HasPrefix(runtime, "nodejs") && !old && javaScript.MatchString(name):
		return p.node(ctx, name, "@3")
	case strings.HasPrefix(runtime, "python3.") && name == boto3:
		if _, err := os.Stat(filepath.Join(systemPython, boto3)); err == nil {
			return systemPython, nil
		}
		return p.python(ctx, interpreter, boto3)
	}
	return "", ErrNotBrought
}

// node provides a package of npm, in a version given as @VERSION.
func (p *Packages) node(ctx context.Context, name, version string) (string, error) {
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
			name+version,
		)
	})
}

// systemPython is Debian's directory for boto3, which works with any Python 3.
const systemPython = "/usr/lib/python3/dist-packages"

const boto3 = "boto3"

// python provides what pip installs for a requirement. Public layers have a directory of their own, because pip
// replaces packages that two requirements share.
func (p *Packages) python(ctx context.Context, interpreter, requirement string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := filepath.Join(p.dir, "python")
	advice := fmt.Sprintf("run \"%s -m pip install %s\"", interpreter, requirement)
	if requirement == boto3 {
		advice += ", or install python3-boto3 of Debian"
	} else {
		dir = filepath.Join(p.dir, "python-layers")
	}
	return dir, p.once(dir, requirement, advice, func() error {
		return run(ctx, interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
			"--target", dir, requirement)
	})
}

// once fetches a package unless it has already been fetched. A marker file records a complete fetch, because a
// registry client that is killed leaves an incomplete package.
func (p *Packages) once(dir, name, advice string, fetch func() error) error {
	done := filepath.Join(dir, ".fetched-"+strings.NewReplacer("@", "", "/", "-", "[", "-", "]", "").Replace(name))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if !p.fetch {
		return fmt.Errorf("AWS's runtime or layer brings %s along, and nothing is fetched here: %s", name, advice)
	}
	p.fetching(name)
	if err := os.MkdirAll(dir, ownerfs.Dir); err != nil {
		return err
	}
	if err := fetch(); err != nil {
		return fmt.Errorf("AWS's runtime or layer brings %s along, and it could not be fetched (%w): %s", name, err, advice)
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
